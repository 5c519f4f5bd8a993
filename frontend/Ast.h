//===- Ast.h - The tree of a model file -----------------------------------===//
//
// One struct per construct of the grammar in docs/language.md. Every node has
// its range; operators, names and the words before a construct have theirs.
// Text is viewed in the Source, which outlives the tree. Nodes are owned by
// their parents; a kind and `classof` stand in for RTTI (llvm::cast works).
// The tree of an expression is at most maxExprHeight high, blocks are nested
// at most maxNesting deep: a walk may recurse.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Source.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace napkin::ast {

/// How deep brackets, blocks and right-leaning operators nest.
inline constexpr unsigned maxNesting = 256;
/// How high the tree of one expression is: a + b + c is 3.
inline constexpr unsigned maxExprHeight = 1024;

/// A word with its place.
struct Name {
  std::string_view text;
  Range range;
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

enum class ExprKind {
  Number, String, Bool, None, Paren, List, Path, Call, Unary, Binary, Conditional, Index
};

/// An expression. `range` runs from its first to its last byte, blanks and comments excluded.
struct Expr {
  const ExprKind kind;
  Range range;
  /// The height of this tree: 1 for a leaf.
  unsigned height = 1;

  virtual ~Expr() = default;

protected:
  Expr(ExprKind kind, Range range) : kind(kind), range(range) {}
};
using ExprPtr = std::unique_ptr<Expr>;

/// `50_257`, `1.5e-3`.
struct NumberExpr : Expr {
  explicit NumberExpr(Range range) : Expr(ExprKind::Number, range) {}
  /// Written without point and exponent: then `whole` holds it exactly.
  bool isWhole = true;
  int64_t whole = 0;
  /// The nearest f64, in both cases.
  double real = 0;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Number; }
};

/// A stretch of text, or `{expr}`.
struct Piece {
  std::string_view text; ///< the text; empty for an expression
  ExprPtr expr;          ///< null for text
  Range range;           ///< with its braces
};

/// `"b s d -> b d"`, `"{h} query heads"`. There are no escapes, so a byte of a piece's text is a
/// byte of the source at the same distance from `range.begin`.
struct StringExpr : Expr {
  explicit StringExpr(Range range) : Expr(ExprKind::String, range) {}
  /// In order; none for "". No two texts are neighbours.
  std::vector<Piece> pieces;
  /// No `{expr}` in it: then `text()` is all of it.
  bool isPlain() const { return pieces.empty() || (pieces.size() == 1 && !pieces[0].expr); }
  std::string_view text() const { return pieces.empty() ? std::string_view() : pieces[0].text; }
  /// What stands between the quotes.
  Range contents() const { return {range.source, range.begin + 1, range.end - 1}; }
  static bool classof(const Expr *e) { return e->kind == ExprKind::String; }
};

struct BoolExpr : Expr {
  BoolExpr(Range range, bool value) : Expr(ExprKind::Bool, range), value(value) {}
  bool value;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Bool; }
};

struct NoneExpr : Expr {
  explicit NoneExpr(Range range) : Expr(ExprKind::None, range) {}
  static bool classof(const Expr *e) { return e->kind == ExprKind::None; }
};

/// `(inner)`. It means what `inner` means.
struct ParenExpr : Expr {
  ParenExpr(Range range, ExprPtr inner) : Expr(ExprKind::Paren, range), inner(std::move(inner)) {}
  ExprPtr inner;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Paren; }
};

/// `[3, 4, 6, 3]`.
struct ListExpr : Expr {
  explicit ListExpr(Range range) : Expr(ExprKind::List, range) {}
  std::vector<ExprPtr> elements;
  static bool classof(const Expr *e) { return e->kind == ExprKind::List; }
};

/// One part of a path, between dots: `{i}`, `attn`, `layer{s + 1}`.
struct PathPart {
  std::vector<Piece> pieces; ///< at least one
  Range range;
};

/// `x`, `wte.weight`, `h.{i}.attn`. One word alone is a name.
struct Path {
  std::vector<PathPart> parts; ///< at least one
  Range range;
  /// One word and nothing else: `x`.
  bool isName() const { return parts.size() == 1 && isPlain(); }
  /// No `{expr}` in it: then `text()` is the whole path.
  bool isPlain() const {
    for (const PathPart &part : parts)
      for (const Piece &piece : part.pieces)
        if (piece.expr)
          return false;
    return true;
  }
  std::string_view text() const { return range.text(); }
  Name name() const { return {range.text(), range}; }
};

/// A path that is read: a variable, a parameter of an instance, an element type, a function.
struct PathExpr : Expr {
  PathExpr(Range range, Path path) : Expr(ExprKind::Path, range), path(std::move(path)) {}
  Path path;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Path; }
};

/// An argument; `name` is absent for one that goes by its place. By place first, then by name.
struct Arg {
  std::optional<Name> name;
  ExprPtr value;
  Range range; ///< with the name
};

/// Where a call puts its instance.
enum class InstanceKind {
  Default, ///< linear(x): under the called word
  At,      ///< linear@h.{i}.fc(x): under a path
  Bare,    ///< linear@.(x): under nothing
};

/// `gelu(x)`, `linear@fc(x, n)`, `share encoder@enc(left)`.
struct CallExpr : Expr {
  explicit CallExpr(Range range) : Expr(ExprKind::Call, range) {}
  bool share = false;
  Name callee;
  InstanceKind instance = InstanceKind::Default;
  std::optional<Path> at; ///< for InstanceKind::At
  std::vector<Arg> args;
  Range head;             ///< what stands before "(": `linear@fc`
  static bool classof(const Expr *e) { return e->kind == ExprKind::Call; }
};

enum class UnaryOp { Negate, Not };

struct UnaryExpr : Expr {
  UnaryExpr(UnaryOp op, Range opRange, ExprPtr operand)
      : Expr(ExprKind::Unary, join(opRange, operand->range)), op(op), opRange(opRange),
        operand(std::move(operand)) {}
  UnaryOp op;
  Range opRange;
  ExprPtr operand;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Unary; }
};

enum class BinaryOp { Add, Sub, Mul, Div, Rem, Pow, Eq, Ne, Lt, Le, Gt, Ge, And, Or };

/// The operator as it is written: "+", "**", "<=", "and".
std::string_view spelling(BinaryOp op);

struct BinaryExpr : Expr {
  BinaryExpr(BinaryOp op, Range opRange, ExprPtr lhs, ExprPtr rhs)
      : Expr(ExprKind::Binary, join(lhs->range, rhs->range)), op(op), opRange(opRange),
        lhs(std::move(lhs)), rhs(std::move(rhs)) {}
  BinaryOp op;
  Range opRange; ///< where the caret goes
  ExprPtr lhs, rhs;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Binary; }
};

/// `value if condition else other`.
struct ConditionalExpr : Expr {
  ConditionalExpr(ExprPtr value, Range ifRange, ExprPtr condition, ExprPtr other)
      : Expr(ExprKind::Conditional, join(value->range, other->range)), value(std::move(value)),
        ifRange(ifRange), condition(std::move(condition)), other(std::move(other)) {}
  ExprPtr value;
  Range ifRange;
  ExprPtr condition, other;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Conditional; }
};

/// One index: `...`, `i`, `a:b:c`.
struct Index {
  enum Kind { Ellipsis, Item, Slice };
  Kind kind = Item;
  ExprPtr item;              ///< for Item
  ExprPtr start, stop, step; ///< for Slice; each may be null
  Range range;
};

/// `x[..., -1]`, `xs[1:]`.
struct IndexExpr : Expr {
  IndexExpr(Range range, ExprPtr base) : Expr(ExprKind::Index, range), base(std::move(base)) {}
  ExprPtr base;
  std::vector<Index> indices; ///< at least one
  Range brackets;             ///< `[..., -1]`
  static bool classof(const Expr *e) { return e->kind == ExprKind::Index; }
};

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// One size of a type: an expression, or "..." when `expr` is null.
struct Size {
  ExprPtr expr;
  Range range;
  bool isEllipsis() const { return !expr; }
  /// The size is one word, `batch`: in a signature it may bind.
  bool isName() const {
    return expr && expr->kind == ExprKind::Path && static_cast<PathExpr &>(*expr).path.isName();
  }
};

/// `[batch, seq]`, `i32[...]`, `f32[]`.
struct Type {
  std::optional<Name> dtype;
  std::vector<Size> sizes;
  Range range;
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

enum class StmtKind {
  Assign, If, For, Return, Assert, Checkpoint, Declare, State, Dim, Input, Result, Load, Train
};

/// A comment that stands a single blank after an expression and itself reads as an expression: an
/// error if all its names are in scope, since in Python d // heads divides.
struct CommentTrap {
  Range slashes;         ///< the two slashes
  std::string_view left; ///< the operand before them, `d`
  ExprPtr right;         ///< the comment as an expression, `heads`
};

/// A statement. `range` runs from its first word to its last byte; a block's, to its "}".
struct Stmt {
  const StmtKind kind;
  Range range;
  Range word; ///< `for`, `param`: the word that begins it; of an Assign, the first target
  std::vector<CommentTrap> traps;

  virtual ~Stmt() = default;

protected:
  explicit Stmt(StmtKind kind) : kind(kind) {}
};
using StmtPtr = std::unique_ptr<Stmt>;

/// `{ ... }`.
struct Block {
  std::vector<StmtPtr> statements;
  Range range; ///< with the braces
};

/// `x = e`, `x : [batch, d] = e`, `q, k, v = e`, `c1, c2 = a, b`.
struct AssignStmt : Stmt {
  AssignStmt() : Stmt(StmtKind::Assign) {}
  std::vector<Path> targets; ///< at least one
  std::optional<Type> type;  ///< only with one target
  std::vector<ExprPtr> values;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Assign; }
};

/// `if a { } else if b { } else { }`.
struct IfStmt : Stmt {
  struct Branch {
    ExprPtr condition;
    Block block;
  };
  IfStmt() : Stmt(StmtKind::If) {}
  std::vector<Branch> branches; ///< at least one
  std::optional<Block> otherwise;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::If; }
};

/// `for i in 0:layers { }`, `for x in xs { }`.
struct ForStmt : Stmt {
  ForStmt() : Stmt(StmtKind::For) {}
  Name variable;
  ExprPtr first; ///< the beginning of the range, or the list
  ExprPtr last;  ///< the end of the range, excluded; null for a list
  Block block;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::For; }
};

/// `return x`, `return a, b`.
struct ReturnStmt : Stmt {
  ReturnStmt() : Stmt(StmtKind::Return) {}
  std::vector<ExprPtr> values; ///< at least one
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Return; }
};

/// `assert e % 2 == 0, "the head size {e} is odd"`.
struct AssertStmt : Stmt {
  AssertStmt() : Stmt(StmtKind::Assert) {}
  ExprPtr condition;
  std::unique_ptr<StringExpr> message;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Assert; }
};

/// `checkpoint { }`.
struct CheckpointStmt : Stmt {
  CheckpointStmt() : Stmt(StmtKind::Checkpoint) {}
  Block block;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Checkpoint; }
};

/// `param PATH : type = init`, `buffer PATH : type = init`.
struct DeclareStmt : Stmt {
  DeclareStmt() : Stmt(StmtKind::Declare) {}
  bool isBuffer = false;
  Path path;
  Type type;
  ExprPtr init;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Declare; }
};

/// `state NAME = init`, `state NAME : type = init`.
struct StateStmt : Stmt {
  StateStmt() : Stmt(StmtKind::State) {}
  Name name;
  std::optional<Type> type;
  ExprPtr init;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::State; }
};

/// `NAME = expr` in `dim`, `train` and `load`.
struct Entry {
  Name name;
  ExprPtr value;
  Range range;
  std::vector<CommentTrap> traps; ///< of `train`, whose entries are lines
};

/// `dim batch = 4, seq = context`.
struct DimStmt : Stmt {
  DimStmt() : Stmt(StmtKind::Dim) {}
  std::vector<Entry> entries;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Dim; }
};

/// `input tokens, targets : i32[batch, seq]`.
struct InputStmt : Stmt {
  InputStmt() : Stmt(StmtKind::Input) {}
  std::vector<Name> names;
  Type type;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Input; }
};

/// `metric accuracy = e`, `output logits`.
struct ResultStmt : Stmt {
  ResultStmt() : Stmt(StmtKind::Result) {}
  bool isOutput = false;
  Name name;
  ExprPtr value; ///< null when the name is bound already
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Result; }
};

/// `load "h.*.w" from "transformer.h.*.w", "i o -> o i"`.
struct LoadStmt : Stmt {
  LoadStmt() : Stmt(StmtKind::Load) {}
  std::unique_ptr<StringExpr> ours;
  ExprPtr theirs;                      ///< a string, a list of strings, or `none`
  std::unique_ptr<StringExpr> pattern; ///< may be null
  std::vector<Entry> sizes;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Load; }
};

/// `train { ... }`.
struct TrainStmt : Stmt {
  TrainStmt() : Stmt(StmtKind::Train) {}
  std::vector<Entry> entries;
  Range block;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Train; }
};

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// A parameter of a model, layer, fn or optimizer.
struct Param {
  Name name;
  std::optional<Type> type;
  ExprPtr init; ///< the default; may be null
  Range range;
};

enum class FunctionKind { Model, Layer, Fn, Optimizer };

/// "model", "layer", "fn", "optimizer".
std::string_view spelling(FunctionKind kind);

/// `model`, `layer`, `fn` and `optimizer`: a name, parameters and a body.
struct Function {
  FunctionKind kind = FunctionKind::Fn;
  Name name;
  std::vector<Param> params;
  std::vector<Type> results;     ///< after "->"; none when it is not written. Layer, fn
  std::optional<Name> precision; ///< `f32` of `in f32`. Layer, fn
  Block body;
  std::vector<CommentTrap> traps; ///< in the signature
  Range word;      ///< `layer`
  Range signature; ///< from the name to the end of what stands before the body
  Range range;
};

/// `use attention, mlp from "blocks.nap"`.
struct Use {
  std::vector<Name> names;
  std::unique_ptr<StringExpr> from;
  Range range;
};

/// A comment, from its slashes to the end of its line (without the line break and blanks before
/// it).
struct Comment {
  Range range;
  bool ownLine = false; ///< nothing but blanks before it
};

/// A whole file.
struct File {
  const Source *source = nullptr;
  std::vector<Use> uses;
  std::vector<std::unique_ptr<Function>> functions; ///< in source order, the model among them
  std::vector<Comment> comments;                    ///< in source order
  /// The model, or null: then the file is a library.
  const Function *model() const {
    for (const std::unique_ptr<Function> &function : functions)
      if (function->kind == FunctionKind::Model)
        return function.get();
    return nullptr;
  }
};

} // namespace napkin::ast
