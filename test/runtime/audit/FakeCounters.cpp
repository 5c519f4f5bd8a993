// Stands in for perf_event_open(2) where it is loaded before libc: every counter that is opened
// counts NAPKIN_FAKE_COUNTS more each time that it is read, for half of the time that it was asked
// for; with NAPKIN_FAKE_ERROR=N none can be opened. What may not be asked for ends the program.

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

/// A descriptor from which so many readings can be read: a count, nanoseconds asked for,
/// nanoseconds counted.
static int countingDescriptor(uint64_t more) {
  constexpr uint64_t readings = 2000;
  int ends[2];
  if (pipe(ends) != 0)
    return -1;
  for (uint64_t number = 1; number <= readings; ++number) {
    uint64_t words[3] = {number * more / 2, 2000 * number, 1000 * number};
    if (write(ends[1], words, sizeof(words)) != sizeof(words))
      return -1;
  }
  return ends[0];
}

static void insist(bool holds, const char *what) {
  if (holds)
    return;
  (void)fprintf(stderr, "fake counters: %s\n", what);
  abort();
}

static int openCounter(const perf_event_attr &attributes, int process, int processor) {
  insist(attributes.size == sizeof(attributes), "the attributes have another size");
  insist(attributes.exclude_kernel && attributes.exclude_hv && attributes.inherit,
         "user space of this thread and its children is wanted alone");
  insist(attributes.read_format ==
             (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING),
         "both times are wanted beside the count");
  insist(process == 0 && processor == -1, "this process on any processor is wanted");
  if (const char *error = getenv("NAPKIN_FAKE_ERROR")) {
    errno = atoi(error);
    return -1;
  }
  const char *more = getenv("NAPKIN_FAKE_COUNTS");
  return countingDescriptor(more ? strtoull(more, nullptr, 10) : 0);
}

extern "C" long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long words[6];
  for (long &word : words)
    word = va_arg(list, long);
  va_end(list);
  if (number == SYS_perf_event_open)
    return openCounter(*reinterpret_cast<const perf_event_attr *>(words[0]),
                       static_cast<int>(words[1]), static_cast<int>(words[2]));
  using Call = long (*)(long, ...);
  static const auto real = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "syscall"));
  return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
