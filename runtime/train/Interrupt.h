// Interrupt: the first Ctrl-C asks, the second one ends.

#ifndef NAPKIN_RUNTIME_TRAIN_INTERRUPT_H
#define NAPKIN_RUNTIME_TRAIN_INTERRUPT_H

namespace napkin::runtime {

/// From here on SIGINT and SIGTERM are remembered; a second one ends the process with status 130.
void watchForInterrupt();
/// True after the first one.
bool interruptRequested();

} // namespace napkin::runtime

#endif
