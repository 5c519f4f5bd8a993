// Interrupt: a counter in a signal handler.

#include "runtime/train/Interrupt.h"

#include "runtime/Status.h"

#include <atomic>
#include <csignal>
#include <unistd.h>

namespace napkin::runtime {

static std::atomic<int> interrupts{0};

/// Only async-signal-safe calls.
static void onSignal(int) {
  if (interrupts.fetch_add(1) > 0)
    _exit(static_cast<int>(ExitStatus::interrupted));
}

void watchForInterrupt() {
  struct sigaction action {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interruptRequested() { return interrupts.load() > 0; }

} // namespace napkin::runtime
