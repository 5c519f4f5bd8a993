//===- Evaluator.h - Reads a model, and makes its graph -------------------===//
//
// Walks the tree of a model. Calls and loops are expanded where they stand;
// what is known when compiling is computed, and tensors become ops of the
// function that is being built. The model is read twice, in training and in
// evaluation, then the recipe makes the update.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Diagnostics.h"
#include "frontend/Frontend.h"
#include "frontend/emit/Emitter.h"
#include "frontend/primitives/Primitive.h"
#include "frontend/semantics/Library.h"
#include "frontend/values/Value.h"

#include <set>

namespace napkin {

/// What a name is bound to.
struct Variable {
  Value value;
  Range where = {};                   ///< where it was bound
  std::string setBy = {};             ///< "-D heads=10"
  std::string boundBy = {};           ///< of a size that a signature bound: the parameter
  Range boundAt = {};                 ///< and the argument
  AxisBinding *axis = nullptr;        ///< made when a type writes the name
  Declaration *declaration = nullptr; ///< of a parameter, a buffer, a state or a scalar
};

/// A call that is being expanded.
struct Frame {
  const ast::Function *function = nullptr;
  const LibraryFile *file = nullptr;
  Frame *caller = nullptr;
  unsigned number = 0; ///< of this call, from 1
  unsigned depth = 0;
  Range call;              ///< in the caller's file
  Range head;              ///< `linear@fc` of it
  std::string instance;    ///< "h.0.attn"
  bool isRepeated = false; ///< its instance was made before
  bool ownsLayers = false; ///< a layer may be called here
  std::map<std::string, Variable, std::less<>> variables;
  std::vector<std::pair<std::string_view, Value>> loops;
  std::optional<Axes> ellipsis; ///< what "..." is in this signature
  Range ellipsisAt;
  Value result;
  Range resultAt;
};

/// An argument of a call.
struct Argument {
  std::optional<ast::Name> name;
  Value value;
  Range range;
  const ast::Expr *expr = nullptr; ///< null: it was not written
};

/// The call of a primitive with its arguments in their places.
struct PrimitiveCall {
  const Primitive &primitive;
  Range range;                         ///< of the call
  Range head;                          ///< of the word
  std::vector<const Argument *> slots; ///< one a parameter; null: left out
  std::vector<const Argument *> sizes; ///< named sizes of a pattern, or einsum's operands

  const Argument &operator[](size_t index) const { return *slots[index]; }
  bool has(size_t index) const { return slots[index]; }
};

/// What a name of a declared tensor is in one reading.
struct ReadingEntry {
  Declaration *declaration = nullptr;
  Value current; ///< of a buffer: its newest version
  Range userPlace;
  std::string shareRoot; ///< the outermost call marked `share` around it
};

/// One reading of the model.
struct Reading {
  bool isTraining = true;
  std::map<std::string, ReadingEntry, std::less<>> declared;
  std::vector<std::string> order;
  std::map<std::string, Range> instances; ///< paths of instances and their first calls
  std::map<std::string, unsigned> draws;  ///< random draws so far, by instance
  int64_t averages = 0;
};

/// Reads models.
class Evaluator {
public:
  Evaluator(mlir::MLIRContext &context, Library &library, Sources &sources,
            Diagnostics &diagnostics, const Options &options);

  /// Everything; null after errors.
  mlir::OwningOpRef<mlir::ModuleOp> compile(const LibraryFile &file);

  //--- reporting
  /// Reports an error, at the user's call if `at` is in the prelude.
  template <Error Kind, typename... Args> Diagnostic &report(Range at, Args &&...args) {
    Range shown = userPlace(at);
    bool isInPrelude = at.isValid() && !(shown == at);
    Diagnostics &where = isNew(Kind, shown, isInPrelude) ? diagnostics : silent;
    Diagnostic &error = where.report<Kind>(shown, std::forward<Args>(args)...);
    if (isInPrelude)
      error.note(at, "found here, in the prelude");
    return error;
  }
  /// Appends "; did you mean 'x'?" where a candidate is close.
  void suggest(Diagnostic &error, std::string_view name,
               const std::vector<std::string_view> &candidates);
  /// False, after an error, for a tensor of more elements than any machine holds.
  bool fits(llvm::ArrayRef<int64_t> sizes, Range at);
  /// Reports a size below 1.
  void reportTooSmall(Range at, int64_t size, const ast::Expr *expr);
  /// The place in a file of the user's that stands for `at`.
  Range userPlace(Range at) const;
  /// Notes what the names in an expression are: "'d' is 768 and 'heads' is 10".
  void noteNames(Diagnostic &error, const ast::Expr *expr);
  /// False in the recipe and in initial values.
  bool isReadingModel() const { return emitter.body == &forward || emitter.body == &evaluate; }

  //--- expressions
  Value eval(const ast::Expr &expr);
  /// A whole number; reports otherwise.
  std::optional<int64_t> evalWhole(const ast::Expr &expr, std::string_view what);
  std::optional<int64_t> wholeOf(const Value &value, Range at, std::string_view what,
                                 const ast::Expr *expr = nullptr);
  Value evalValues(const std::vector<ast::ExprPtr> &values);
  /// A path with its `{expr}` replaced; nothing after an error.
  std::optional<std::string> evalPath(const ast::Path &path);
  Value call(const Callable &callee, std::vector<Argument> &arguments, const ast::CallExpr *expr,
             Range range, Range head);

  //--- elementwise
  /// How an operation prints in an error.
  struct Operation {
    std::string_view name;   ///< "+", "maximum"
    bool isOperator = false; ///< stands between its operands
    Range caret, left, right;
  };
  /// Both tensors in one shape; false after an error.
  bool align(Tensor &a, Tensor &b, const Operation &operation);
  /// Arithmetic of values at least one of which is a tensor.
  Value arithmetic(ast::BinaryOp op, const Value &a, const Value &b, const Operation &operation);
  Value binaryOf(std::string_view op, const Value &a, const Value &b, const Operation &operation);
  Value logical(std::string_view op, const Value &a, const Value &b, const Operation &operation);
  /// Gives both operands one element type; false after an error.
  bool meetTypes(const Value &a, const Value &b, Tensor &x, Tensor &y, const Operation &operation,
                 bool wantsFloat = false);
  /// A number, or a tensor, as a tensor of this element type.
  Tensor asTensor(const Value &value, mlir::Type element);
  mlir::Type meet(mlir::Type a, mlir::Type b) const;
  mlir::Type floatType() const { return emitter.floatType; }

  //--- structure
  /// Slices a tensor along its first axis.
  std::vector<Value> unstack(const Tensor &tensor);
  /// A list of tensors as one, on a new first axis; poison after an error.
  Value stack(const std::vector<Value> &list, Range at);
  Value indexTensor(const Tensor &tensor, const ast::IndexExpr &expr);
  Value indexList(const std::vector<Value> &list, const ast::IndexExpr &expr);

  //--- random draws and declarations
  /// The number of the next random draw.
  uint32_t nextSite(Range at);
  mlir::Value randomKey();
  mlir::Value read(Declaration &declaration, bool isGradient = false);
  Declaration &declare(nap::Role role, std::string name, mlir::RankedTensorType type, Axes axes,
                       Range where);
  Declaration &scalar(const std::string &name, std::optional<double> value, Range where);

  Diagnostics &diagnostics;
  Emitter emitter;
  Frame *frame = nullptr;
  Reading *reading = nullptr;

private:
  /// What is said a second time.
  Diagnostics silent;
  std::set<std::tuple<unsigned, uint32_t, uint32_t, int>> reported;

  friend class ModuleWriter;

  //--- expressions, by kind
  Value evalKind(const ast::Expr &expr);
  Value evalString(const ast::StringExpr &expr);
  Value evalList(const ast::ListExpr &expr);
  Value evalPathExpr(const ast::PathExpr &expr);
  Value evalUnary(const ast::UnaryExpr &expr);
  Value evalBinary(const ast::BinaryExpr &expr);
  Value evalLogical(const ast::BinaryExpr &expr);
  Value evalComparison(const ast::BinaryExpr &expr, const Value &a, const Value &b);
  Value evalConditional(const ast::ConditionalExpr &expr);
  Value evalIndex(const ast::IndexExpr &expr);
  Value evalCall(const ast::CallExpr &expr);
  std::optional<bool> evalCondition(const ast::Expr &expr, std::string_view word);
  std::optional<std::string> evalPieces(const std::vector<ast::Piece> &pieces, bool isPath);
  Value lookup(const ast::Name &name);
  Value readVariable(Variable &variable, Range at);
  Value readDeclared(const ReadingEntry &entry);
  Value unknownName(const ast::Name &name);
  const Callable *lookupFunction(const ast::Name &name);
  bool enterExpression(Range at);
  /// False for an error that was reported, and for a second one in one call of the prelude.
  bool isNew(Error kind, Range shown, bool isInPrelude);

  //--- calls
  Value callFunction(const Callable &callee, std::vector<Argument> &arguments,
                     const ast::CallExpr *expr, Range range, Range head);
  Value callPrimitive(const Callable &callee, std::vector<Argument> &arguments, Range range,
                      Range head);
  bool placeInstance(Frame &next, const ast::CallExpr *expr, const Callable &callee, Range head);
  bool bindArguments(Frame &next, const Callable &callee, std::vector<Argument> &arguments,
                     Range head);
  bool bindTyped(Frame &next, const ast::Param &param, const Value &value, Range at,
                 bool isDefault);
  Value checkResults(Frame &next, const Callable &callee);
  Value renameOutward(const Value &value, unsigned number);
  Value scalarFor(const ast::Function &function, const ast::Param &param, const Number &number);
  std::string signatureText(const ast::Function &function, const ast::Param *upTo) const;

  //--- types
  /// What a type is matched against, for sentences.
  struct Matched {
    std::string what; ///< "'x'", "the result"
    Range at;         ///< the argument, or what is returned
    Range where;      ///< the name that takes it
    const ast::Function *signature = nullptr;
    const ast::Param *param = nullptr;
  };
  /// Checks a value against a type, binds the sizes that are free, names the axes.
  Value matchType(const ast::Type &type, const Value &value, const Matched &matched);
  std::optional<DType> typeElement(const ast::Type &type);
  /// The axes of a declared type; nothing after an error.
  std::optional<Axes> evalShape(const ast::Type &type, Range where);
  std::optional<int64_t> evalSize(const ast::Size &size);
  const AxisBinding *bindingOf(const ast::Size &size, const Axis *outer);
  void reportSize(const Axis &axis, unsigned place, const ast::Size &size, int64_t wanted,
                  const Matched &matched);

  //--- statements
  enum class Flow { Next, Returned, Stopped };
  Flow exec(const ast::Block &block);
  Flow exec(const ast::Stmt &statement);
  Flow execIf(const ast::IfStmt &statement);
  Flow execFor(const ast::ForStmt &statement);
  void execAssign(const ast::AssignStmt &statement);
  void assign(const ast::Path &target, Value value);
  void assignBuffer(ReadingEntry &entry, const Value &value, Range at);
  Flow execCheckpoint(const ast::CheckpointStmt &statement);
  Flow execAssert(const ast::AssertStmt &statement);
  void execDeclare(const ast::DeclareStmt &statement);
  void execState(const ast::StateStmt &statement);
  void execDim(const ast::DimStmt &statement);
  void execInput(const ast::InputStmt &statement);
  void execResult(const ast::ResultStmt &statement);
  void execLoad(const ast::LoadStmt &statement);
  /// Tells every parameter and buffer where `--init` finds it: the first rule that is for it.
  void applyLoads();
  void reportCollisions();
  void checkTrap(const ast::CommentTrap &trap);
  /// Gives a state of the optimizer, or the weight, its next version.
  void bindState(Variable &variable, const Value &value, Range at);
  Variable &bind(std::string_view name, Value value, Range where);
  /// False, after an error, for a name that the compiled program has for something else.
  bool mayDeclare(std::string_view name, nap::Role role, Range at);
  void reportDeclaredAgain(const std::string &name, const ReadingEntry &entry, Range at);

  //--- initial values
  void initialise(Declaration &declaration, const ast::Expr &init);
  Value evalInit(const ast::Expr &expr, const Declaration &declaration);
  /// Calls a function whose first parameter is `shape`; nothing if it has none.
  std::optional<Value> callWithShape(const ast::Expr &expr, const Declaration &declaration);

  //--- the model and its recipe
  std::map<std::string, std::pair<std::string, ast::ExprPtr>> defines;
  void parseDefines(const ast::Function &model);
  void parseOverrides();
  void findTrain();
  void choosePolicy();
  const ast::Expr *trainEntry(std::string_view name) const;
  void bindHyperParameters();
  bool readModel(const ast::Function &model, bool isTraining);
  void finishTraining();
  void finishEvaluation();
  void compareReadings(const Reading &training, const Reading &evaluation);
  std::optional<Tensor> lossOf();
  mlir::OwningOpRef<mlir::ModuleOp> writeModule();
  void checkReach();
  void checkAverageCounts();
  void evalRecipe();
  void updateParameter(Declaration &parameter, const ast::Expr *optimizer, const ast::Expr *ema);
  Value callOptimizer(Frame &next, const Callable &callee);
  void limitIds(mlir::Value ids, int64_t limit);
  std::optional<Value> evalEntry(std::string_view name);

public:
  /// Notes that an input's elements index a table of so many rows.
  void noteIdLimit(mlir::Value ids, int64_t limit) { limitIds(ids, limit); }
  /// Notes an average, whose count is checked when the reading ends.
  void noteAverage(mlir::Value count, Range at) { averageCounts.push_back({count, userPlace(at)}); }

private:
  Library &library;
  Sources &sources;
  const Options &options;
  const LibraryFile *mainFile = nullptr;
  const ast::Function *model = nullptr;
  const ast::TrainStmt *train = nullptr;
  std::map<std::string, std::pair<Range, ast::ExprPtr>, std::less<>> overrides;

  std::deque<Declaration> declarations;
  std::map<std::string, Declaration *, std::less<>> byName;
  std::deque<AxisBinding> bindings;
  std::map<uint32_t, std::string> sites;
  /// Two draws of one number: an error unless the model is too large anyway.
  struct Collision {
    Range at, shown;
    std::string draw, other;
  };
  std::vector<Collision> collisions;
  std::map<std::string, std::vector<std::pair<Number, Declaration *>>> recipeNumbers;
  std::vector<std::pair<mlir::Value, Range>> averageCounts;
  std::vector<LoadRule> loads;
  std::vector<std::string> fixed; ///< hyper-parameters and dims with their values: "d=64"
  std::optional<Axis> sampleAxis;

  Body init{"init"}, forward{"forward"}, evaluate{"evaluate"}, predict{"predict"}, update{"update"};
  Reading training, evaluation;
  std::unique_ptr<Frame> modelFrame, evaluationFrame;

  /// The parameter whose optimizer is evaluated; null elsewhere.
  Declaration *optimized = nullptr;
  /// The declaration whose initial value is evaluated; null elsewhere.
  const Declaration *initialised = nullptr;
  unsigned initialDraws = 0;
  std::vector<std::string> shareRoots;

  int64_t accumulate = 1;
  std::optional<double> clipNorm;
  std::optional<int64_t> steps;
  int64_t seed = 0;

  unsigned frames = 0;
  int64_t statements = 0;
  /// `checkpoint { }` blocks so far.
  int64_t checkpoints = 0;
  const char *stackBase = nullptr;
  bool isStopped = false;
};

} // namespace napkin
