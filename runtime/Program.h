// Program: the contract between compiler and runtime.
//
// What the compiler knows about a training step, as plain data: tensors with their places in one
// arena, kernels, and functions as lists of launches.  The runtime sees this and a table of kernel
// pointers, nothing else.  It prints and parses as JSON text (`runtime/ProgramText.cpp`).

#ifndef NAPKIN_RUNTIME_PROGRAM_H
#define NAPKIN_RUNTIME_PROGRAM_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace napkin::runtime {

/// The format version that `printProgram` writes and `parseProgram` accepts.
inline constexpr int64_t programVersion = 1;

/// Offsets of tensors in the arena, and the arena itself, are multiples of this many bytes.
inline constexpr int64_t arenaAlignment = 256;

/// An element type.  Floats are IEEE or OCP formats; `boolean` is one byte in memory, 0 or 1;
/// `f4e2m1` is packed, two elements a byte, the first in the low half.
enum class DType : uint8_t { f64, f32, f16, bf16, f8e4m3, f8e5m2, f4e2m1, i64, i32, boolean };

/// Bits of one element in memory (8 for `boolean`).
int64_t bitsOf(DType dtype);
/// "f32", "bool", ...: the name in the model language.
std::string_view nameOf(DType dtype);
/// The inverse of `nameOf`.
std::optional<DType> dtypeNamed(std::string_view name);
/// True for the floating-point types.
bool isFloat(DType dtype);

/// What a tensor is for, hence who writes it.
enum class Role : uint8_t {
  parameter, ///< trained; written by `init`, `step`/`update`, checkpoints
  buffer,    ///< stored, not trained; written by `init`, `step`/`update`
  state,     ///< of an optimizer; `owner` names its parameter
  gradient,  ///< accumulated over micro-batches; `owner` names its parameter
  working,   ///< a parameter in the type that products read; `owner` names it; written by `prepare`
  input,     ///< written by the runtime from data before each micro-batch
  scalar,    ///< no axes; a number that the runtime writes: hyper-parameters, step, steps, count.k
  random,    ///< i32[4]: seed low, seed high, step, micro-batch; written by the runtime
  result,    ///< named by a function's results; readable after that function ran
  temporary, ///< lives inside one function
};
/// "parameter", ...: as printed.
std::string_view nameOf(Role role);
/// The inverse of `nameOf`.
std::optional<Role> roleNamed(std::string_view name);

/// The row of the memory report that a tensor's bytes belong to.
enum class MemoryClass : uint8_t {
  parameters, states, buffers, gradients, working, inputs, scalars, saved, temporary, workspace
};
/// "parameters", ...: as printed.
std::string_view nameOf(MemoryClass memoryClass);
/// The inverse of `nameOf`.
std::optional<MemoryClass> memoryClassNamed(std::string_view name);

/// Where `--init` finds a parameter or buffer, where that is not under its own name and in its own
/// layout: the arrays `names`, one after the other, are one array of the sizes `split`, and axis k
/// of what is wanted is its axis `order[k]`, before neighbours are joined into the tensor's shape.
struct InitialSource {
  std::vector<std::string> names; ///< in the file; none: the initial value stays
  std::vector<int64_t> shape;     ///< of each of these arrays
  std::vector<int64_t> split;
  std::vector<int64_t> order;
};

/// A tensor that exists in memory: contiguous, row-major.
struct TensorInfo {
  std::string name;            ///< as in the model file, "h.0.attn.c_fc.weight"; temporaries too
  Role role = Role::temporary;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;  ///< sizes, each at least 1; empty: one element
  std::vector<std::string> axes; ///< names of the axes ("batch", "seq"); empty, or one each (""
                                 ///< unknown)
  int64_t offset = 0;          ///< in the arena, bytes, a multiple of `arenaAlignment`
  int64_t bytes = 0;           ///< of the elements, without padding
  MemoryClass memoryClass = MemoryClass::temporary;
  std::string owner;           ///< for states and gradients: the parameter's name
  std::string where;           ///< "gpt2.nap:12"; empty where there is none
  double value = 0;            ///< for scalars: the value unless `-D` sets another
  bool settable = false;       ///< for scalars: a hyper-parameter, which `-D` may set
  int64_t idLimit = 0;         ///< for integer inputs that index a table: ids are in [0, idLimit);
                               ///< 0: unknown
  std::optional<int64_t> idIgnored; ///< with `idLimit`: one more value that the model leaves out,
                                    ///< -100
  std::optional<InitialSource> load; ///< for parameters and buffers
};

/// A product that a GPU's library makes, as one call: result[b, row, column] = the sum over terms
/// of left[b, row, term] right[b, term, column], plus `init` where there is one. Everything that
/// the call is given, beside the algorithm, which is chosen on the device (`ProductPins`).
struct LibraryProduct {
  /// A matrix for each b, `batchStride` elements apart, the first at `offset` of a tensor. Rows of
  /// the left side and of the result lie together, and are `lineStride` apart; of the right side
  /// the rows are the terms. Where `isTransposed` it is columns that do.
  struct Matrix {
    int64_t offset = 0, lineStride = 1, batchStride = 0;
    bool isTransposed = false;
  };
  int64_t batches = 1, rows = 1, columns = 1, depth = 1;
  int64_t left = 0, right = 1; ///< which of the launch's arguments
  int64_t init = -1;           ///< the same, laid out as the result; -1: sums begin at 0
  Matrix leftMatrix, rightMatrix, resultMatrix;
  DType factors = DType::f32;  ///< of both sides: f32 or bf16
  DType result = DType::f32;   ///< of the result and `init`
  bool roundsToTf32 = false;   ///< factors of f32 are rounded to tf32; sums are f32 always
  int64_t workspaceBytes = 0;  ///< that the call may use
};

/// The algorithms that products were given on a device: they are part of what decides bits.
struct ProductPins {
  int64_t library = 0; ///< cuBLASLt's version, 130100
  std::string device;  ///< "NVIDIA H200 sm_90"
  /// By what describes a call the 64 bytes of its algorithm, in hexadecimal digits.
  std::map<std::string, std::string> algorithms;
};

/// Code that is called by launches.
struct KernelInfo {
  std::string name;                 ///< for people, "gelu_bias.h_N_mlp_c_fc"
  std::string symbol;               ///< in the object file
  int64_t scratchBytesPerWorker = 0; ///< private memory of one call, 256-byte aligned
  int64_t sites = 0;                ///< how many sites of random draws each launch gives
  bool zeros = false;               ///< all that it does is write zero bytes to its results
  std::string kind = {};            ///< its class, "contraction"; empty: unknown
  /// On a GPU it is this call; the host has code for it.
  std::optional<LibraryProduct> product = std::nullopt;
};

/// One call of a kernel on given tensors.
struct Launch {
  int64_t kernel = 0;               ///< index in `Program::kernels`
  std::vector<int64_t> arguments;   ///< indices in `Program::tensors`, read
  std::vector<int64_t> results;     ///< indices in `Program::tensors`, written; may share bytes
                                    ///< with arguments
  std::vector<int64_t> sites;       ///< of random draws, 32 bits each: they set this launch's
                                    ///< numbers apart from those of others
  int64_t tasks = 1;                ///< the kernel is called on sub-ranges [first, last) of [0,
                                    ///< tasks), each task once
  double flops = 0;                 ///< executed, all tasks together
  double products = 0;              ///< of these inside contractions
  double functions = 0;             ///< of these exp, tanh and kin, one each
  double integers = 0;              ///< integer operations of draws, beside them
  double bytes = 0;                 ///< least traffic: distinct bytes read plus written
  std::string where;                ///< lines of the model file, "gpt2.nap:12"
  std::vector<int64_t> dies;        ///< tensors whose storage nobody reads after this launch
};

/// A list of launches in order.  The names that the runtime knows:
/// "init", "prepare", "step" (accumulate = 1), "counts", "micro_first", "micro_next", "update"
/// (accumulate > 1), "evaluate_counts", "evaluate", "predict".
/// After it ran, the bytes of each persistent tensor (parameter, buffer, state, gradient) hold its
/// new version, if the function has one.
struct Function {
  std::string name;
  std::vector<Launch> launches;
  /// Name -> tensor index: "loss", "metric accuracy", "output logits", "finite" and
  /// "finite_gradients" (both boolean), "gradient_norm", "loss_scale", "count.0". A result may be
  /// any tensor, an input too.
  std::map<std::string, int64_t> results;
};

/// A compiled training program.
struct Program {
  int64_t version = programVersion;
  std::string model;                ///< "gpt2"
  std::string graphHash;            ///< hexadecimal; equal for equal graphs
  std::string target;               ///< "cpu:x86-64-v4"
  std::string policy = "f32";       ///< precision
  bool tileRegisters = false;       ///< kernels use AMX tiles, which the process must ask for
  int64_t accumulate = 1;           ///< micro-batches a step
  int64_t plannedSteps = 1;         ///< the train block's `steps`; `--steps` sets another
  uint64_t defaultSeed = 0;         ///< the train block's `seed`; `--seed` sets another
  int64_t arenaBytes = 0;           ///< one arena for everything, a multiple of `arenaAlignment`
  int64_t scratchBytesPerWorker = 0; ///< largest of all kernels, a multiple of `arenaAlignment`
  int64_t memoryBudget = 0;         ///< bytes that the arena and all scratch may take; 0: no limit
  double modelFlopsPerStep = 0;     ///< of the model's graph, all micro-batches: the numerator of
                                    ///< MFU
  /// FLOPs of a step's products, as the program makes them, by what they multiply; none where
  /// nobody counted.
  std::vector<std::pair<DType, double>> productFlops;
  /// Choices fixed by compiling, with their values: hyper-parameters that are not scalars, dims.
  std::vector<std::pair<std::string, std::string>> fixedChoices;
  std::vector<TensorInfo> tensors;
  std::vector<KernelInfo> kernels;
  std::optional<ProductPins> pins;  ///< for products of the library; none: chosen where it runs
  std::vector<Function> functions;
};

/// Calls tasks [first, last).  `operands` are the launch's arguments, then its results, then, if
/// there are any, its sites (an int64_t each); `scratch` is this worker's own,
/// `KernelInfo::scratchBytesPerWorker` bytes.
using KernelFunction = void (*)(std::byte *const *operands, std::byte *scratch, int64_t first,
                                int64_t last);

/// The kernels for CUDA; `runtime/cuda/CudaCode.h`.
struct CudaCode;

/// What the JIT or the image loader hands to the runtime: code of the host, of CUDA, or both.
struct LoadedProgram {
  Program program;
  std::vector<KernelFunction> kernels; ///< one for each of `program.kernels`
  std::shared_ptr<const CudaCode> cuda = nullptr; ///< null: none
};

/// The element type that products of the program's policy multiply, bf16 of "mixed(bf16)".
DType factorTypeOf(const Program &program);
/// The element type whose products a launch makes: of the floats that it reads the narrowest; f32
/// where it reads none.
DType narrowestFloat(const Program &program, const Launch &launch);
/// Elements of a tensor of this shape.
int64_t elementsOf(const std::vector<int64_t> &shape);
/// Bytes of a tensor of this type and shape, without padding.
int64_t bytesOf(DType dtype, const std::vector<int64_t> &shape);

/// The function of this name, or null.
const Function *findFunction(const Program &program, std::string_view name);
/// The index of the tensor with this name and a role other than temporary or result; -1: none.
int64_t findTensor(const Program &program, std::string_view name);

/// The program as JSON text: deterministic, ends with a newline.
std::string printProgram(const Program &program);
/// Reads what `printProgram` wrote and checks it: version, indices, sizes, tensors inside the
/// arena. On failure returns nothing and sets `error` to one sentence.
std::optional<Program> parseProgram(std::string_view text, std::string &error);
/// One sentence about what is wrong with a program; empty if nothing is.
std::string checkProgram(const Program &program);

} // namespace napkin::runtime

#endif
