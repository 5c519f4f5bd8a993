// Kernels of the program halving.json. Their pointers in data and their calls of libc and libm need
// every kind of relocation that the loader knows.
typedef long long i64;
void *memcpy(void *, const void *, unsigned long);
float expf(float);

float one = 1.0f;
float *const sources[2] = {&one, &one};
static float calls[1024];

void init(char *const *o, char *scratch, i64 first, i64 last) {
  for (int i = 0; i < 4; ++i)
    memcpy(o[0] + 4 * i, sources[i % 2], 4);
}

void step(char *const *o, char *scratch, i64 first, i64 last) {
  float *w = (float *)o[0];
  calls[0] += 1;
  *(float *)o[1] = expf(w[0]);
  for (int i = 0; i < 4; ++i)
    w[i] *= 0.5f;
}
