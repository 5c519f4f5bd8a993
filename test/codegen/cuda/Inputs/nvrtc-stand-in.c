/* A library with the functions that libnvrtc.so.12 and libnvrtc.so.13 have in common, of those that napkin uses; what it
   compiles is its version and the text's length. MAJOR and MINOR are given when it is built. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program is created, compiled and read by one thread. */
static _Thread_local char code[128];
static _Thread_local size_t textBytes;

static int put(char *to) {
  memcpy(to, code, strlen(code) + 1);
  return 0;
}
static int size(size_t *bytes) {
  *bytes = strlen(code) + 1;
  return 0;
}

int nvrtcVersion(int *major, int *minor) {
  *major = MAJOR;
  *minor = MINOR;
  return 0;
}
int nvrtcGetNumSupportedArchs(int *count) {
  *count = 1;
  return 0;
}
int nvrtcGetSupportedArchs(int *architectures) {
  *architectures = 90;
  return 0;
}
int nvrtcCreateProgram(void **program, const char *text, const char *name, int headers, const char *const *contents,
                       const char *const *names) {
  *program = code;
  textBytes = strlen(text);
  return headers != 1 || !strstr(text, names[0]);
}
int nvrtcCompileProgram(void *program, int count, const char *const *options) {
  snprintf(code, sizeof(code), "code by stand-in %d.%d %s of %zu bytes", MAJOR, MINOR, options[0], textBytes);
  return 0;
}
int nvrtcDestroyProgram(void **program) { return 0; }
int nvrtcGetProgramLogSize(void *program, size_t *bytes) { return size(bytes); }
int nvrtcGetProgramLog(void *program, char *log) { return put(log); }
int nvrtcGetPTXSize(void *program, size_t *bytes) { return size(bytes); }
int nvrtcGetPTX(void *program, char *ptx) { return put(ptx); }
int nvrtcGetCUBINSize(void *program, size_t *bytes) { return size(bytes); }
int nvrtcGetCUBIN(void *program, char *cubin) { return put(cubin); }
const char *nvrtcGetErrorString(int status) { return "an error"; }
