//===- Emitter.h - Graph ops at the place that is being read --------------===//
//
// Makes nap ops on tensor values whose shapes are known to fit. A function
// under construction is a Body: a block whose arguments appear when a
// declaration is first read.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/emit/Precision.h"
#include "frontend/patterns/Load.h"
#include "frontend/values/Value.h"
#include "ir/Ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/DenseSet.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>

namespace napkin {

/// A tensor that the module declares.
struct Declaration {
  nap::Role role;
  std::string name;
  unsigned order = 0; ///< in the module
  mlir::RankedTensorType type;
  Axes axes;
  Range where;                      ///< the name in the file
  Range userPlace;                  ///< where the user's file caused it
  const Declaration *of = nullptr;  ///< of a state
  std::optional<double> value = {}; ///< of a scalar
  int64_t idLimit = 0;              ///< of an integer input that indexes a table
  std::optional<int64_t> idIgnored = {}; ///< the other value that it may hold, which never indexes
  mlir::Value initial = {};         ///< its value in @init
  bool isUsed = false;              ///< a function reads or writes it
  bool isSettable = false;          ///< of a scalar: `-D` may set it when the program runs
  bool isTrained = false;           ///< of a parameter: the recipe updates it
  Declaration *average = nullptr;   ///< of a parameter: the state that evaluation reads
  std::optional<FileSource> source = {}; ///< where `--init` finds it, where that is not its own
                                         ///< name
};

/// A result of a function.
struct BodyResult {
  mlir::Value value;
  const Declaration *updates = nullptr; ///< the tensor whose new version it is, or
  std::string label = {};               ///< "loss", "metric NAME", "output NAME"
};

/// A function under construction.
class Body {
public:
  explicit Body(std::string name) : name(std::move(name)), block(std::make_unique<mlir::Block>()) {}

  std::string name;
  std::unique_ptr<mlir::Block> block;
  std::vector<BodyResult> results;

  /// The argument that reads a declaration, or the gradient of a parameter.
  mlir::Value read(Declaration &declaration, bool isGradient, mlir::Location loc);
  /// The declaration that an argument reads, and whether as its gradient; null: not an argument.
  Declaration *declarationOf(mlir::Value argument, bool *isGradient = nullptr) const;
  /// Erases every op that no result needs.
  void eraseDead();

  /// What the arguments are, in the order of the block.
  std::vector<std::pair<Declaration *, bool>> arguments;

private:
  std::map<std::pair<const Declaration *, bool>, unsigned> numbers;
};

/// Makes ops.
class Emitter {
public:
  explicit Emitter(mlir::MLIRContext &context)
      : context(&context), builder(&context) {
    setPrecision(*Precision::named("f32", builder));
  }

  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  /// The policy.
  Precision precision;
  void setPrecision(const Precision &policy) {
    precision = policy;
    floatType = policy.state;
  }
  /// What f32 in a file is where ops are made now: the policy's storage or state type.
  mlir::Type floatType;
  /// Values that a cast to f32 made: products of them are not multiplied in a narrower type.
  llvm::DenseSet<mlir::Value> pins;
  /// Where the ops that are made now come from, and in which instance.
  Range place;
  const std::string *instance = nullptr;
  /// The `checkpoint { }` block around them, by number.
  std::optional<int64_t> checkpoint;
  /// Ops made so far.
  int64_t made = 0;

  /// The function that is being built.
  Body *body = nullptr;
  void enter(Body *next);

  mlir::Location location();
  mlir::RankedTensorType typeOf(llvm::ArrayRef<int64_t> sizes, mlir::Type element) const {
    return mlir::RankedTensorType::get(sizes, element);
  }
  /// The IR type of an element type written in a file.
  mlir::Type element(DType dtype) const;
  /// Its inverse.
  DType dtypeOf(mlir::Type element) const;

  /// A 0-d constant. The number fits the type.
  mlir::Value constant(const Number &number, mlir::Type element);
  /// A number in every element.
  mlir::Value splat(const Number &number, llvm::ArrayRef<int64_t> sizes, mlir::Type element);
  mlir::Value cast(mlir::Value x, mlir::Type element);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> sizes);
  mlir::Value permute(mlir::Value x, llvm::ArrayRef<int64_t> order);
  /// NumPy's broadcasting, which is known to work.
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> sizes);
  /// Axis i of x becomes axis axes[i] of the result.
  mlir::Value broadcastInto(mlir::Value x, llvm::ArrayRef<int64_t> axes,
                            llvm::ArrayRef<int64_t> sizes);
  mlir::Value slice(mlir::Value x, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> strides,
                    llvm::ArrayRef<int64_t> sizes);
  mlir::Value reduce(nap::ReduceKind kind, mlir::Value x, llvm::ArrayRef<int64_t> axes);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> values, int64_t axis);
  /// An elementwise op of one operand by its name in the language; "neg" and "not" too.
  mlir::Value unary(std::string_view name, mlir::Value x);
  /// An elementwise op of two operands of one type: "add", "sub", "maximum", ...
  mlir::Value binary(std::string_view name, mlir::Value a, mlir::Value b);
  mlir::Value compare(nap::ComparePredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  /// Creates any op, at the current location.
  template <typename Op, typename... Args> Op create(Args &&...args) {
    ++made;
    return Op::create(builder, location(), std::forward<Args>(args)...);
  }

private:
  const Source *lastSource = nullptr;
  uint32_t lastBegin = 0;
  std::string lastInstanceText;
  std::optional<int64_t> lastCheckpoint;
  mlir::LocationAttr lastLocation;
};

} // namespace napkin
