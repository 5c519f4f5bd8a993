#include "napkin.cuh"

// pointwise.with_dots  ()
// f32[7, 37], f32[37] -> f32[7, 37]
extern "C" __global__ __launch_bounds__(256)
void pointwise__with_dots(const float *__restrict__ in_0, const float *__restrict__ in_1, float *__restrict__ out) {
  const int first = (int(blockIdx.x) * 256) + int(threadIdx.x);
  for (int element = first; element < 259; element += 512) {
    const float t = in_0[element];
    const float add = t + in_1[element + ((element / 37) * (-37))];
    const float tanh_ = fabsf(add);
    const float tanh__1 = add * add;
    const float tanh__2 = fused(fused(0.002147537f, tanh__1, -0.008182674f), tanh__1, 0.021702968f);
    const float tanh__3 = fused(fused(tanh__2, tanh__1, -0.053947203f), tanh__1, 0.1333321f);
    const float tanh__4 = fused(fused(tanh__3, tanh__1, -0.3333333f) * tanh__1, add, add);
    const float tanh__5 = tanh_ + tanh_;
    const float tanh__6 = (tanh__5 > 89.0f) ? 89.0f : tanh__5;
    const float tanh__7 = (tanh__6 < (-104.0f)) ? (-104.0f) : tanh__6;
    const float tanh__8 = fused(tanh__7, 1.442695f, 12582912.0f);
    const float tanh__9 = tanh__8 - 12582912.0f;
    const u32 tanh__10 = bits_of(tanh__8) - bits_of(12582912.0f);
    const float tanh__11 = fused(tanh__9, 1.9046542e-09f, fused(tanh__9, -0.6931472f, tanh__7));
    const float tanh__12 = fused(fused(0.0001991797f, tanh__11, 0.001394619f), tanh__11, 0.008333265f);
    const float tanh__13 = fused(fused(tanh__12, tanh__11, 0.04166627f), tanh__11, 0.16666667f);
    const float tanh__14 = fused(fused(tanh__13, tanh__11, 0.5f), tanh__11 * tanh__11, tanh__11);
    const u32 tanh__15 = u32(int(tanh__10) >> 1u);
    const float tanh__16 = ((tanh__14 + 1.0f) * float_of((tanh__15 + 127u) << 23u)) * float_of(((tanh__10 - tanh__15) + 127u) << 23u);
    const float tanh__17 = (tanh_ < 0.625f) ? tanh__4 : copysignf(1.0f - (2.0f / (tanh__16 + 1.0f)), add);
    out[element] = maximum(tanh__17 * add, t);
  }
}

// whole_numbers  ()
// i32[41], i32[41] -> f32[41], i1[41]
extern "C" __global__ __launch_bounds__(256)
void whole_numbers__kernel(const u32 *__restrict__ in_0, const u32 *__restrict__ in_1, float *__restrict__ out_0, u8 *__restrict__ out_1) {
  const int first = (int(blockIdx.x) * 256) + int(threadIdx.x);
  for (int element = first; element < 41; element += 256) {
    const u32 t = in_0[element];
    const u32 t_1 = in_1[element];
    const bool t_2 = (t_1 + 1u) < 2u;
    const u32 floor_div_ = t_2 ? (t * t_1) : u32(floor_div(int(t), int(t_2 ? 1u : t_1)));
    const bool t_3 = (t_1 + 1u) < 2u;
    const u32 t_4 = t_3 ? (t * t_1) : u32(floor_div(int(t), int(t_3 ? 1u : t_1)));
    const u32 rem = t - (t_4 * t_1);
    const float cast = float(int((int(floor_div_) > int(rem) ? floor_div_ : rem) + (t * t_1)));
    out_0[element] = cast;
    out_1[element] = u8(int(t) < int(t_1));
  }
}

// wide_numbers  ()
// i64[41] -> i64[41]
extern "C" __global__ __launch_bounds__(256)
void wide_numbers__kernel(const u64 *__restrict__ in_0, u64 *__restrict__ out) {
  const int first = (int(blockIdx.x) * 256) + int(threadIdx.x);
  for (int element = first; element < 41; element += 256) {
    out[element] = (in_0[element] * 0xb2d05e00ull) + 3ull;
  }
}

// narrow  ()
// bf16[41], bf16[41] -> bf16[41], bf16[41]
extern "C" __global__ __launch_bounds__(256)
void narrow__kernel(const bf16 *__restrict__ in_0, const bf16 *__restrict__ in_1, bf16 *__restrict__ out_0, bf16 *__restrict__ out_1) {
  const int first = (int(blockIdx.x) * 256) + int(threadIdx.x);
  for (int element = first; element < 41; element += 256) {
    const float t = float_of(u32(bits_of(in_0[element])) << 16u) * 0.5f;
    const u32 t_1 = bits_of(t);
    const u32 t_2 = (t == t && t == t) ? ((t_1 + 0x7fffu) + ((t_1 >> 16u) & 1u)) : (t_1 | 0x400000u);
    const float maximum_ = maximum(float_of(t_2 & 0xffff0000u), float_of(u32(bits_of(in_1[element])) << 16u));
    const float t_3 = (maximum_ > 89.0f) ? 89.0f : maximum_;
    const float t_4 = (t_3 < (-104.0f)) ? (-104.0f) : t_3;
    const float t_5 = fused(t_4, 1.442695f, 12582912.0f);
    const float t_6 = t_5 - 12582912.0f;
    const u32 t_7 = bits_of(t_5) - bits_of(12582912.0f);
    const float t_8 = fused(t_6, 1.9046542e-09f, fused(t_6, -0.6931472f, t_4));
    const float t_9 = fused(fused(0.0001991797f, t_8, 0.001394619f), t_8, 0.008333265f);
    const float t_10 = fused(fused(fused(t_9, t_8, 0.04166627f), t_8, 0.16666667f), t_8, 0.5f);
    const u32 t_11 = u32(int(t_7) >> 1u);
    const float t_12 = (fused(t_10, t_8 * t_8, t_8) + 1.0f) * float_of((t_11 + 127u) << 23u);
    const float t_13 = t_12 * float_of(((t_7 - t_11) + 127u) << 23u);
    const u32 t_14 = bits_of(t_13);
    const u32 t_15 = (t_13 == t_13 && t_13 == t_13) ? ((t_14 + 0x7fffu) + ((t_14 >> 16u) & 1u)) : (t_14 | 0x400000u);
    out_0[element] = bf16_of(u16(bits_of(maximum_) >> 16u));
    out_1[element] = bf16_of(u16(bits_of(float_of(t_15 & 0xffff0000u)) >> 16u));
  }
}

// draws.of_normals  ()
// i32[4] -> f32[3, 37]
extern "C" __global__ __launch_bounds__(256)
void draws__of_normals(const u32 *__restrict__ in_0, float *__restrict__ out) {
  const int first = (int(blockIdx.x) * 256) + int(threadIdx.x);
  const u32 t = in_0[0];
  const u32 t_1 = in_0[1];
  const u32 t_2 = in_0[2];
  const u32 t_3 = in_0[3];
  for (int element = first; element < 111; element += 256) {
    const int t_4 = element / 4;
    const u64 t_5 = u64(t_4);
    const u32 t_6 = u32(element + (t_4 * (-4)));
    const u32 t_7 = u32(t_5) * 0xd2511f53u;
    const u32 t_8 = high_word(u32(t_5), 0xd2511f53u);
    const u32 t_9 = t_2 * 0xcd9e8d57u;
    const u32 t_10 = high_word(t_2, 0xcd9e8d57u);
    const u32 t_11 = t + 0x9e3779b9u;
    const u32 t_12 = t_1 + 0xbb67ae85u;
    const u32 t_13 = ((t_10 ^ ((u32(t_5 >> 32ull) & 0xffffu) | (t_3 << 16u))) ^ t) * 0xd2511f53u;
    const u32 t_14 = high_word((t_10 ^ ((u32(t_5 >> 32ull) & 0xffffu) | (t_3 << 16u))) ^ t, 0xd2511f53u);
    const u32 t_15 = ((t_8 ^ 7u) ^ t_1) * 0xcd9e8d57u;
    const u32 t_16 = high_word((t_8 ^ 7u) ^ t_1, 0xcd9e8d57u);
    const u32 t_17 = t_11 + 0x9e3779b9u;
    const u32 t_18 = t_12 + 0xbb67ae85u;
    const u32 t_19 = ((t_16 ^ t_9) ^ t_11) * 0xd2511f53u;
    const u32 t_20 = high_word((t_16 ^ t_9) ^ t_11, 0xd2511f53u);
    const u32 t_21 = ((t_14 ^ t_7) ^ t_12) * 0xcd9e8d57u;
    const u32 t_22 = high_word((t_14 ^ t_7) ^ t_12, 0xcd9e8d57u);
    const u32 t_23 = t_17 + 0x9e3779b9u;
    const u32 t_24 = t_18 + 0xbb67ae85u;
    const u32 t_25 = ((t_22 ^ t_15) ^ t_17) * 0xd2511f53u;
    const u32 t_26 = high_word((t_22 ^ t_15) ^ t_17, 0xd2511f53u);
    const u32 t_27 = ((t_20 ^ t_13) ^ t_18) * 0xcd9e8d57u;
    const u32 t_28 = high_word((t_20 ^ t_13) ^ t_18, 0xcd9e8d57u);
    const u32 t_29 = t_23 + 0x9e3779b9u;
    const u32 t_30 = t_24 + 0xbb67ae85u;
    const u32 t_31 = ((t_28 ^ t_21) ^ t_23) * 0xd2511f53u;
    const u32 t_32 = high_word((t_28 ^ t_21) ^ t_23, 0xd2511f53u);
    const u32 t_33 = ((t_26 ^ t_19) ^ t_24) * 0xcd9e8d57u;
    const u32 t_34 = high_word((t_26 ^ t_19) ^ t_24, 0xcd9e8d57u);
    const u32 t_35 = t_29 + 0x9e3779b9u;
    const u32 t_36 = t_30 + 0xbb67ae85u;
    const u32 t_37 = ((t_34 ^ t_27) ^ t_29) * 0xd2511f53u;
    const u32 t_38 = high_word((t_34 ^ t_27) ^ t_29, 0xd2511f53u);
    const u32 t_39 = ((t_32 ^ t_25) ^ t_30) * 0xcd9e8d57u;
    const u32 t_40 = high_word((t_32 ^ t_25) ^ t_30, 0xcd9e8d57u);
    const u32 t_41 = t_35 + 0x9e3779b9u;
    const u32 t_42 = t_36 + 0xbb67ae85u;
    const u32 t_43 = ((t_40 ^ t_33) ^ t_35) * 0xd2511f53u;
    const u32 t_44 = high_word((t_40 ^ t_33) ^ t_35, 0xd2511f53u);
    const u32 t_45 = ((t_38 ^ t_31) ^ t_36) * 0xcd9e8d57u;
    const u32 t_46 = high_word((t_38 ^ t_31) ^ t_36, 0xcd9e8d57u);
    const u32 t_47 = t_41 + 0x9e3779b9u;
    const u32 t_48 = t_42 + 0xbb67ae85u;
    const u32 t_49 = ((t_46 ^ t_39) ^ t_41) * 0xd2511f53u;
    const u32 t_50 = high_word((t_46 ^ t_39) ^ t_41, 0xd2511f53u);
    const u32 t_51 = ((t_44 ^ t_37) ^ t_42) * 0xcd9e8d57u;
    const u32 t_52 = high_word((t_44 ^ t_37) ^ t_42, 0xcd9e8d57u);
    const u32 t_53 = t_47 + 0x9e3779b9u;
    const u32 t_54 = t_48 + 0xbb67ae85u;
    const u32 t_55 = ((t_52 ^ t_45) ^ t_47) * 0xd2511f53u;
    const u32 t_56 = high_word((t_52 ^ t_45) ^ t_47, 0xd2511f53u);
    const u32 t_57 = ((t_50 ^ t_43) ^ t_48) * 0xcd9e8d57u;
    const u32 t_58 = high_word((t_50 ^ t_43) ^ t_48, 0xcd9e8d57u);
    const u32 t_59 = ((t_58 ^ t_51) ^ t_53) * 0xd2511f53u;
    const u32 t_60 = high_word((t_58 ^ t_51) ^ t_53, 0xd2511f53u);
    const u32 t_61 = ((t_56 ^ t_49) ^ t_54) * 0xcd9e8d57u;
    const u32 t_62 = high_word((t_56 ^ t_49) ^ t_54, 0xcd9e8d57u);
    const bool t_63 = (t_6 == 0u) || (t_6 == 1u);
    const u32 t_64 = t_63 ? ((t_62 ^ t_57) ^ (t_53 + 0x9e3779b9u)) : ((t_60 ^ t_55) ^ (t_54 + 0xbb67ae85u));
    const float t_65 = 1.0f - (float(t_64 >> 8u) * 5.9604645e-08f);
    const bool t_66 = t_65 < 1.1754944e-38f;
    const float t_67 = t_66 ? (t_65 * 8388608.0f) : t_65;
    const u32 t_68 = u32(int(bits_of(t_67) - 0x3f3504f3u) >> 23u);
    const float t_69 = float_of(bits_of(t_67) - (t_68 << 23u)) - 1.0f;
    const float t_70 = float(int(t_68 - (t_66 ? 23u : 0u)));
    const float t_71 = t_69 * t_69;
    const float t_72 = fused(fused(0.06915368f, t_69, -0.11789808f), t_69, 0.11872976f);
    const float t_73 = fused(fused(fused(t_72, t_69, -0.12384348f), t_69, 0.14218658f), t_69, -0.16669251f);
    const float t_74 = fused(fused(fused(t_73, t_69, 0.20002227f), t_69, -0.24999987f), t_69, 0.3333331f);
    const float t_75 = fused(-0.5f, t_71, fused(t_70, -1.9046542e-09f, (t_74 * t_69) * t_71));
    const float t_76 = (t_65 == 0.0f) ? float_of(0xff800000u) : fused(t_70, 0.6931472f, t_69 + t_75);
    const float t_77 = (t_65 < float_of(0x7f800000u)) ? ((t_65 < 0.0f) ? float_of(0x7fc00000u) : t_76) : t_65;
    const float t_78 = 6.2831855f * (float((t_63 ? t_61 : t_59) >> 8u) * 5.9604645e-08f);
    const double t_79 = double(t_78);
    const double t_80 = rint(t_79 * 0.6366197723675814);
    const double t_81 = fused(t_80, -6.123233995736766e-17, fused(t_80, -1.5707963267948966, t_79));
    const bool t_82 = fabsf(t_78) >= 268435456.0f;
    double t_83;
    double t_84;
    if (t_82) {
      const double t_85 = double(t_78);
      const double t_86 = fabs(t_85);
      const bool t_87 = t_86 >= 140737488355328.0;
      const bool t_88 = t_86 >= 2361183241434822606848.0;
      const double t_89 = t_88 ? 0.08267188988231296 : (t_87 ? 3.4308817435903483 : 0.6366197723675814);
      const double t_90 = t_88 ? 2.8658837463471963e-18 : (t_87 ? 1.0190525440657723e-16 : (-3.935735335036497e-17));
      const double t_91 = t_88 ? 3.552713678800501e-15 : (t_87 ? 5.960464477539063e-08 : 1.0);
      const bool t_92 = t_86 >= 3.961408125713217e+28;
      const bool t_93 = t_86 >= 6.64613997892458e+35;
      const double t_94 = t_93 ? 1.9578379245607584 : (t_92 ? 0.1536837791107848 : t_89);
      const double t_95 = t_93 ? 7.769584704001829e-17 : (t_92 ? 1.1892889840965575e-17 : t_90);
      const double t_96 = t_93 ? 1.262177448353619e-29 : (t_92 ? 2.117582368135751e-22 : t_91);
      const double t_97 = t_85 * t_96;
      const double t_98 = t_97 * t_94;
      const double t_99 = rint(t_98);
      const double t_100 = (t_98 - t_99) + fused(t_97, t_95, fused(t_97, t_94, t_98 * (-1.0)));
      const double t_101 = rint(t_100);
      const double next_0 = t_82 ? ((t_100 - t_101) * 1.5707963267948966) : t_81;
      const double next_1 = t_82 ? ((t_99 - (rint(t_99 * 0.25) * 4.0)) + t_101) : t_80;
      t_83 = next_0;
      t_84 = next_1;
    } else {
      const double next_2 = t_81;
      const double next_3 = t_80;
      t_83 = next_2;
      t_84 = next_3;
    }
    const float t_102 = float(t_83);
    const u32 t_103 = u32(bits_of(t_84 + 6755399441055744.0)) + 1u;
    const float t_104 = t_102 * t_102;
    const float t_105 = fused(fused(2.7179399e-06f, t_104, -0.00019839295f), t_104, 0.008333329f);
    const float t_106 = fused(fused(t_105, t_104, -0.16666667f) * t_104, t_102, t_102);
    const float t_107 = fused(fused(-2.7206787e-07f, t_104, 2.479948e-05f), t_104, -0.0013888883f);
    const float t_108 = fused(fused(t_107, t_104, 0.041666668f), t_104 * t_104, fused(t_104, -0.5f, 1.0f));
    const float t_109 = ((t_103 & 1u) != 0u) ? t_108 : t_106;
    const double t_110 = double(t_78);
    const double t_111 = rint(t_110 * 0.6366197723675814);
    const double t_112 = fused(t_111, -6.123233995736766e-17, fused(t_111, -1.5707963267948966, t_110));
    const bool t_113 = fabsf(t_78) >= 268435456.0f;
    double t_114;
    double t_115;
    if (t_113) {
      const double t_116 = double(t_78);
      const double t_117 = fabs(t_116);
      const bool t_118 = t_117 >= 140737488355328.0;
      const bool t_119 = t_117 >= 2361183241434822606848.0;
      const double t_120 = t_119 ? 0.08267188988231296 : (t_118 ? 3.4308817435903483 : 0.6366197723675814);
      const double t_121 = t_119 ? 2.8658837463471963e-18 : (t_118 ? 1.0190525440657723e-16 : (-3.935735335036497e-17));
      const double t_122 = t_119 ? 3.552713678800501e-15 : (t_118 ? 5.960464477539063e-08 : 1.0);
      const bool t_123 = t_117 >= 3.961408125713217e+28;
      const bool t_124 = t_117 >= 6.64613997892458e+35;
      const double t_125 = t_124 ? 1.9578379245607584 : (t_123 ? 0.1536837791107848 : t_120);
      const double t_126 = t_124 ? 7.769584704001829e-17 : (t_123 ? 1.1892889840965575e-17 : t_121);
      const double t_127 = t_124 ? 1.262177448353619e-29 : (t_123 ? 2.117582368135751e-22 : t_122);
      const double t_128 = t_116 * t_127;
      const double t_129 = t_128 * t_125;
      const double t_130 = rint(t_129);
      const double t_131 = (t_129 - t_130) + fused(t_128, t_126, fused(t_128, t_125, t_129 * (-1.0)));
      const double t_132 = rint(t_131);
      const double t_133 = t_113 ? ((t_130 - (rint(t_130 * 0.25) * 4.0)) + t_132) : t_111;
      const double next_4 = t_113 ? ((t_131 - t_132) * 1.5707963267948966) : t_112;
      const double next_5 = t_133;
      t_114 = next_4;
      t_115 = next_5;
    } else {
      const double next_6 = t_112;
      const double next_7 = t_111;
      t_114 = next_6;
      t_115 = next_7;
    }
    const float t_134 = float(t_114);
    const u32 t_135 = u32(bits_of(t_115 + 6755399441055744.0));
    const float t_136 = t_134 * t_134;
    const float t_137 = fused(fused(2.7179399e-06f, t_136, -0.00019839295f), t_136, 0.008333329f);
    const float t_138 = fused(fused(t_137, t_136, -0.16666667f) * t_136, t_134, t_134);
    const float t_139 = fused(fused(-2.7206787e-07f, t_136, 2.479948e-05f), t_136, -0.0013888883f);
    const float t_140 = fused(fused(t_139, t_136, 0.041666668f), t_136 * t_136, fused(t_136, -0.5f, 1.0f));
    const float t_141 = ((t_135 & 1u) != 0u) ? t_140 : t_138;
    const float t_142 = ((t_6 == 0u) || (t_6 == 2u)) ? (((t_103 & 2u) != 0u) ? (-t_109) : t_109) : (((t_135 & 2u) != 0u) ? (-t_141) : t_141);
    out[element] = sqrtf((-2.0f) * t_77) * t_142;
  }
}

// rows.of_exps  ()
// f32[5, 300] -> f32[5]
extern "C" __global__ __launch_bounds__(128)
void rows__of_exps(const float *__restrict__ in_0, float *__restrict__ out) {
  __shared__ float running[128];
  const int thread = int(threadIdx.x);
  const int block = int(blockIdx.x);
  for (int row = block; row < 5; row += 5) {
    __syncthreads();
    float t = float_of(0xff800000u);
    for (int t_1 = thread; t_1 < 300; t_1 += 128) {
      t = maximum(t, in_0[(row * 300) + t_1]);
    }
    const float largest = block_max(t, running);
    float t_2 = 0.0f;
    for (int t_3 = thread; t_3 < 300; t_3 += 128) {
      const float sub = in_0[(row * 300) + t_3] - largest;
      const float exp_ = (sub > 89.0f) ? 89.0f : sub;
      const float exp__1 = (exp_ < (-104.0f)) ? (-104.0f) : exp_;
      const float exp__2 = fused(exp__1, 1.442695f, 12582912.0f);
      const float exp__3 = exp__2 - 12582912.0f;
      const u32 exp__4 = bits_of(exp__2) - bits_of(12582912.0f);
      const float exp__5 = fused(exp__3, 1.9046542e-09f, fused(exp__3, -0.6931472f, exp__1));
      const float exp__6 = fused(fused(0.0001991797f, exp__5, 0.001394619f), exp__5, 0.008333265f);
      const float exp__7 = fused(fused(exp__6, exp__5, 0.04166627f), exp__5, 0.16666667f);
      const u32 exp__8 = u32(int(exp__4) >> 1u);
      const float exp__9 = fused(fused(exp__7, exp__5, 0.5f), exp__5 * exp__5, exp__5) + 1.0f;
      const float exp__10 = (exp__9 * float_of((exp__8 + 127u) << 23u)) * float_of(((exp__4 - exp__8) + 127u) << 23u);
      t_2 = t_2 + exp__10;
    }
    const float sum = block_sum(t_2, running);
    for (int column = thread; column < 1; column += 128) {
      out[row + column] = sum;
    }
  }
}

// long_rows.x  ()
// f32[2, 9001] -> f32[2]
extern "C" __global__ __launch_bounds__(128)
void long_rows__x(const float *__restrict__ in_0, float *__restrict__ out) {
  __shared__ float running[128];
  __shared__ float blocks[3];
  const int thread = int(threadIdx.x);
  const int block = int(blockIdx.x);
  for (int row = block; row < 2; row += 2) {
    __syncthreads();
    for (int t = 0; t < 2; ++t) {
      float t_1 = 0.0f;
      for (int t_2 = thread; t_2 < 4096; t_2 += 128) {
        t_1 = t_1 + in_0[((row * 9001) + (t * 4096)) + t_2];
      }
      const float sum = block_sum(t_1, running);
      if (thread == 0) {
        blocks[t] = sum;
      }
      __syncthreads();
    }
    float t_3 = 0.0f;
    for (int t_4 = thread; t_4 < 809; t_4 += 128) {
      t_3 = t_3 + in_0[((row * 9001) + t_4) + 8192];
    }
    const float sum_1 = block_sum(t_3, running);
    if (thread == 0) {
      blocks[2] = sum_1;
    }
    __syncthreads();
    float t_5 = 0.0f;
    for (int t_6 = thread; t_6 < 3; t_6 += 128) {
      t_5 = t_5 + blocks[t_6];
    }
    const float sum_2 = block_sum(t_5, running);
    for (int column = thread; column < 1; column += 128) {
      out[row + column] = sum_2;
    }
  }
}

// short_rows.x  ()
// f32[3, 5] -> f32[3]
extern "C" __global__ __launch_bounds__(128)
void short_rows__x(const float *__restrict__ in_0, float *__restrict__ out) {
  __shared__ float running[128];
  const int thread = int(threadIdx.x);
  const int block = int(blockIdx.x);
  for (int row = block; row < 3; row += 3) {
    __syncthreads();
    float t = 0.0f;
    for (int t_1 = thread; t_1 < 5; t_1 += 128) {
      t = t + in_0[(row * 5) + t_1];
    }
    const float sum = block_sum(t, running);
    for (int column = thread; column < 1; column += 128) {
      out[row + column] = sum;
    }
  }
}

// columns.x  ()
// f32[150, 37] -> f32[37]
extern "C" __global__ __launch_bounds__(256)
void columns__x(const float *__restrict__ in_0, float *__restrict__ out) {
  const int first = (int(blockIdx.x) * 256) + int(threadIdx.x);
  for (int element = first; element < 37; element += 256) {
    float t = 0.0f;
    for (int t_1 = 0; t_1 < 2; ++t_1) {
      float t_2 = 0.0f;
      for (int t_3 = 0; t_3 < 64; ++t_3) {
        t_2 = t_2 + in_0[(element + (t_1 * 2368)) + (t_3 * 37)];
      }
      t = t + t_2;
    }
    float t_4 = 0.0f;
    for (int t_5 = 0; t_5 < 22; ++t_5) {
      t_4 = t_4 + in_0[(element + (t_5 * 37)) + 4736];
    }
    out[element] = t + t_4;
  }
}

// product.x  ()
// f32[5, 33], f32[33, 7] -> f32[5, 7]
extern "C" __global__ __launch_bounds__(256)
void product__x(const float *__restrict__ in_0, const float *__restrict__ in_1, float *__restrict__ out) {
  const int first = (int(blockIdx.x) * 256) + int(threadIdx.x);
  for (int element = first; element < 35; element += 256) {
    const int t = element / 7;
    float t_1 = 0.0f;
    for (int t_2 = 0; t_2 < 33; ++t_2) {
      const float t_3 = fused(in_0[(t * 33) + t_2], in_1[(element + (t * (-7))) + (t_2 * 7)], t_1);
      t_1 = t_3;
    }
    out[element] = t_1;
  }
}

// layer_norm  ()
// f32[5, 37], f32[5, 37], f32[37], f32[37] -> f32[5], f32[5, 37], f32[5], f32[5, 37]
extern "C" __global__ __launch_bounds__(128)
void layer_norm__kernel(const float *__restrict__ in_0, const float *__restrict__ in_1, const float *__restrict__ in_2, const float *__restrict__ in_3, float *__restrict__ out_0, float *__restrict__ out_1, float *__restrict__ out_2, float *__restrict__ out_3) {
  __shared__ float running[128];
  const int thread = int(threadIdx.x);
  const int block = int(blockIdx.x);
  for (int row = block; row < 5; row += 5) {
    float t = 0.0f;
    for (int t_1 = thread; t_1 < 37; t_1 += 128) {
      const int t_2 = (row * 37) + t_1;
      t = t + (in_0[t_2] + in_1[t_2]);
    }
    const float sum = block_sum(t, running);
    const float div = sum / 37.0f;
    float t_3 = 0.0f;
    for (int t_4 = thread; t_4 < 37; t_4 += 128) {
      const int t_5 = (row * 37) + t_4;
      const float sub = (in_0[t_5] + in_1[t_5]) - div;
      t_3 = t_3 + (sub * sub);
    }
    const float sum_1 = block_sum(t_3, running);
    const float div_1 = 1.0f / sqrtf((sum_1 / 37.0f) + 1e-05f);
    for (int column = thread; column < 37; column += 128) {
      const int t_6 = (row * 37) + column;
      const float add = in_0[t_6] + in_1[t_6];
      out_1[t_6] = (((add - div) * div_1) * in_2[column]) + in_3[column];
      out_3[t_6] = add;
    }
    __syncthreads();
    if (thread == 0) {
      out_0[row] = div;
      out_2[row] = div_1;
    }
  }
}

// nested.x  ()
// f32[3, 150], f32[150, 20] -> f32[3]
extern "C" __global__ __launch_bounds__(128)
void nested__x(const float *__restrict__ in_0, const float *__restrict__ in_1, float *__restrict__ out) {
  __shared__ float running[128];
  float t[128];
  const int thread = int(threadIdx.x);
  const int block = int(blockIdx.x);
  for (int row = block; row < 3; row += 3) {
    __syncthreads();
    float t_1 = 0.0f;
    for (int t_2 = thread; t_2 < 150; t_2 += 128) {
      const float t_3 = in_0[(row * 150) + t_2];
      for (int t_4 = 0; t_4 < 128; ++t_4) {
        t[t_4] = 0.0f;
      }
      for (int t_5 = 0; t_5 < 20; ++t_5) {
        t[t_5] = t[t_5] + in_1[(t_2 * 20) + t_5];
      }
      for (int t_6 = 0; t_6 < 64; ++t_6) {
        t[t_6] = t[t_6] + t[t_6 + 64];
      }
      for (int t_7 = 0; t_7 < 32; ++t_7) {
        t[t_7] = t[t_7] + t[t_7 + 32];
      }
      for (int t_8 = 0; t_8 < 16; ++t_8) {
        t[t_8] = t[t_8] + t[t_8 + 16];
      }
      for (int t_9 = 0; t_9 < 8; ++t_9) {
        t[t_9] = t[t_9] + t[t_9 + 8];
      }
      for (int t_10 = 0; t_10 < 4; ++t_10) {
        t[t_10] = t[t_10] + t[t_10 + 4];
      }
      for (int t_11 = 0; t_11 < 2; ++t_11) {
        t[t_11] = t[t_11] + t[t_11 + 2];
      }
      for (int t_12 = 0; t_12 < 1; ++t_12) {
        t[t_12] = t[t_12] + t[t_12 + 1];
      }
      t_1 = t_1 + (t_3 * t[0]);
    }
    const float sum = block_sum(t_1, running);
    for (int column = thread; column < 1; column += 128) {
      out[row + column] = sum;
    }
  }
}

// softmax.x  ()
// f32[2, 3, 70] -> f32[2, 3, 70]
extern "C" __global__ __launch_bounds__(128)
void softmax__x(const float *__restrict__ in_0, float *__restrict__ out) {
  __shared__ float running[128];
  const int thread = int(threadIdx.x);
  const int block = int(blockIdx.x);
  for (int row = block; row < 6; row += 6) {
    float t = float_of(0xff800000u);
    for (int t_1 = thread; t_1 < 70; t_1 += 128) {
      t = maximum(t, in_0[(row * 70) + t_1]);
    }
    const float largest = block_max(t, running);
    float t_2 = 0.0f;
    for (int t_3 = thread; t_3 < 70; t_3 += 128) {
      const float sub = in_0[(row * 70) + t_3] - largest;
      const float exp_ = (sub > 89.0f) ? 89.0f : sub;
      const float exp__1 = (exp_ < (-104.0f)) ? (-104.0f) : exp_;
      const float exp__2 = fused(exp__1, 1.442695f, 12582912.0f);
      const float exp__3 = exp__2 - 12582912.0f;
      const u32 exp__4 = bits_of(exp__2) - bits_of(12582912.0f);
      const float exp__5 = fused(exp__3, 1.9046542e-09f, fused(exp__3, -0.6931472f, exp__1));
      const float exp__6 = fused(fused(0.0001991797f, exp__5, 0.001394619f), exp__5, 0.008333265f);
      const float exp__7 = fused(fused(exp__6, exp__5, 0.04166627f), exp__5, 0.16666667f);
      const u32 exp__8 = u32(int(exp__4) >> 1u);
      const float exp__9 = fused(fused(exp__7, exp__5, 0.5f), exp__5 * exp__5, exp__5) + 1.0f;
      const float exp__10 = (exp__9 * float_of((exp__8 + 127u) << 23u)) * float_of(((exp__4 - exp__8) + 127u) << 23u);
      t_2 = t_2 + exp__10;
    }
    const float sum = block_sum(t_2, running);
    for (int column = thread; column < 70; column += 128) {
      const int t_4 = (row * 70) + column;
      const float sub_1 = in_0[t_4] - largest;
      const float exp__11 = (sub_1 > 89.0f) ? 89.0f : sub_1;
      const float exp__12 = (exp__11 < (-104.0f)) ? (-104.0f) : exp__11;
      const float exp__13 = fused(exp__12, 1.442695f, 12582912.0f);
      const float exp__14 = exp__13 - 12582912.0f;
      const u32 exp__15 = bits_of(exp__13) - bits_of(12582912.0f);
      const float exp__16 = fused(exp__14, 1.9046542e-09f, fused(exp__14, -0.6931472f, exp__12));
      const float exp__17 = fused(fused(0.0001991797f, exp__16, 0.001394619f), exp__16, 0.008333265f);
      const float exp__18 = fused(fused(exp__17, exp__16, 0.04166627f), exp__16, 0.16666667f);
      const float exp__19 = fused(fused(exp__18, exp__16, 0.5f), exp__16 * exp__16, exp__16);
      const u32 exp__20 = u32(int(exp__15) >> 1u);
      const float exp__21 = ((exp__19 + 1.0f) * float_of((exp__20 + 127u) << 23u)) * float_of(((exp__15 - exp__20) + 127u) << 23u);
      out[t_4] = exp__21 / sum;
    }
  }
}
