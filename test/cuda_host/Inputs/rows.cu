#include "napkin.cuh"

// The sums of 3 rows of 256 numbers, and what stays of each number without its row's mean.
extern "C" __global__ __launch_bounds__(64)
void centre(const float *__restrict__ in, float *__restrict__ out, float *__restrict__ sums) {
  __shared__ float running[64];
  const int thread = int(threadIdx.x);
  const int row = int(blockIdx.x);
  float sum = 0.0f;
  for (int column = thread; column < 256; column += 64) {
    sum = sum + in[row * 256 + column];
  }
  running[thread] = sum;
  __syncthreads();
  for (int half = 32; half >= 1; half = half / 2) {
    if (thread < half) {
      running[thread] = running[thread] + running[thread + half];
    }
    __syncthreads();
  }
  const float total = running[0];
  for (int column = thread; column < 256; column += 64) {
    out[row * 256 + column] = in[row * 256 + column] - total / 256.0f;
  }
  if (thread == 0) {
    sums[row] = total;
  }
}

// A square of 32 x 32 numbers turned over, through shared memory whose rows are a word longer.
extern "C" __global__ __launch_bounds__(256)
void turn(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float tile[32 * 33];
  const int thread = int(threadIdx.x);
  for (int i = thread; i < 1024; i += 256) {
    tile[i / 32 * 33 + i % 32] = in[i];
  }
  __syncthreads();
  for (int i = thread; i < 1024; i += 256) {
    out[i] = tile[i % 32 * 33 + i / 32];
  }
}

NAP_HOST_KERNEL(centre, 3, 64, true, {"in", 3072, 4, false}, {"out", 3072, 4, true}, {"sums", 12, 4, true})
NAP_HOST_KERNEL(turn, 1, 256, true, {"in", 4096, 4, false}, {"out", 4096, 4, true})
