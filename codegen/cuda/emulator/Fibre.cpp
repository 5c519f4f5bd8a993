// Stacks that take turns. On x86-64 a switch saves the six registers that a call keeps; elsewhere
// it is the C library's.
#include "codegen/cuda/emulator/Fibre.h"

#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace nap::emulator {

/// Bytes of a stack: no power of two, lest the stacks share the sets of the caches.
static constexpr size_t kStackBytes = (64 << 10) + 192;
/// Threads of a block at most.
static constexpr size_t kFibres = 1024;

#if defined(__x86_64__)

struct FibreStacks::Place {
  void *stack = nullptr;
};

// A jump, not a return: the processor would predict a return to the wrong caller.
asm(R"(
.text
.type napSwitchStack, @function
napSwitchStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
.size napSwitchStack, .-napSwitchStack
)");
extern "C" void napSwitchStack(void **from, void *to);

bool FibreStacks::prepare(size_t i, void (*function)()) {
  if (!begin)
    return false;
  uintptr_t top = (begin + (i + 1) * kStackBytes) & ~uintptr_t(15);
  void **stack = reinterpret_cast<void **>(top);
  // As after a call: the return address of nobody, then where the first switch jumps to.
  *--stack = nullptr;
  *--stack = reinterpret_cast<void *>(function);
  for (int saved = 0; saved < 6; ++saved)
    *--stack = nullptr;
  places[i].stack = stack;
  return true;
}

void FibreStacks::enter(size_t i) { napSwitchStack(&host->stack, places[i].stack); }
void FibreStacks::change(size_t from, size_t to) {
  napSwitchStack(&places[from].stack, places[to].stack);
}
void FibreStacks::leave(size_t from) { napSwitchStack(&places[from].stack, host->stack); }

#else

struct FibreStacks::Place {
  ucontext_t context;
};

bool FibreStacks::prepare(size_t i, void (*function)()) {
  if (!begin)
    return false;
  getcontext(&places[i].context);
  places[i].context.uc_stack.ss_sp = reinterpret_cast<void *>(begin + i * kStackBytes);
  places[i].context.uc_stack.ss_size = kStackBytes - 192;
  places[i].context.uc_link = nullptr;
  makecontext(&places[i].context, function, 0);
  return true;
}

void FibreStacks::enter(size_t i) { swapcontext(&host->context, &places[i].context); }
void FibreStacks::change(size_t from, size_t to) {
  swapcontext(&places[from].context, &places[to].context);
}
void FibreStacks::leave(size_t from) { swapcontext(&places[from].context, &host->context); }

#endif

FibreStacks::FibreStacks() : places(kFibres + 1), host(&places[kFibres]) {
  void *mapped = mmap(nullptr, kFibres * kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return;
  begin = reinterpret_cast<uintptr_t>(mapped);
  bytes = kFibres * kStackBytes;
}

FibreStacks::~FibreStacks() {
  if (begin)
    munmap(reinterpret_cast<void *>(begin), bytes);
}

} // namespace nap::emulator
