// Compares the strides of views with what their definitions read, element by element.
#include "ir/Views.h"
#include "ir/ops/Build.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <fmt/format.h>

using namespace mlir;
using Index = llvm::SmallVector<int64_t>;

static int failures = 0;

static void expect(bool condition, llvm::StringRef what, llvm::StringRef text) {
  if (condition)
    return;
  fmt::print(stderr, "{}: {}\n", what.str(), text.str());
  ++failures;
}

/// The row-major number of `index` in `shape`.
static int64_t flat(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> shape) {
  int64_t result = 0;
  for (auto [i, size] : llvm::zip_equal(index, shape))
    result = result * size + i;
  return result;
}

/// The index of element number `place` of `shape`.
static Index unflat(int64_t place, llvm::ArrayRef<int64_t> shape) {
  Index index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; place /= shape[axis])
    index[axis] = place % shape[axis];
  return index;
}

/// Which element of the root the element `index` of `value` is, by the definition of each view.
static int64_t rootElement(Value value, Index index) {
  Operation *op = value.getDefiningOp();
  if (!op || !nap::isView(op))
    return flat(index, nap::tensorType(value).getShape());
  Value x = op->getOperand(0);
  llvm::ArrayRef<int64_t> shape = nap::tensorType(x).getShape();
  Index read(shape.size());
  if (auto reshape = dyn_cast<nap::ReshapeOp>(op))
    read = unflat(flat(index, reshape.getType().getShape()), shape);
  if (auto permute = dyn_cast<nap::PermuteOp>(op))
    for (auto [place, axis] : llvm::enumerate(permute.getOrder()))
      read[axis] = index[place];
  if (auto broadcast = dyn_cast<nap::BroadcastOp>(op))
    for (auto [from, to] : llvm::enumerate(broadcast.getAxes()))
      read[from] = index[to];
  if (auto slice = dyn_cast<nap::SliceOp>(op))
    for (size_t axis = 0; axis < read.size(); ++axis)
      read[axis] = slice.getStarts()[axis] + slice.getStrides()[axis] * index[axis];
  if (auto diagonal = dyn_cast<nap::DiagonalOp>(op)) {
    read = index;
    read.insert(read.begin() + diagonal.getSecond(), index[diagonal.getFirst()]);
  }
  if (auto window = dyn_cast<nap::WindowOp>(op)) {
    size_t count = window.getSizes().size(), lead = shape.size() - count;
    for (size_t axis = 0; axis < lead; ++axis)
      read[axis] = index[axis];
    for (size_t i = 0; i < count; ++i)
      read[lead + i] = index[lead + i] * window.getStrides()[i] +
                       index[lead + count + i] * window.getDilations()[i];
  }
  return rootElement(x, read);
}

/// Every view of the function reads by its strides what it reads by definition; those marked
/// `no_strides` have none.
static void checkFunction(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (!nap::isView(op))
      return;
    std::string text;
    llvm::raw_string_ostream(text) << *op;
    Value value = op->getResult(0);
    std::optional<nap::StridedView> view = nap::stridedView(value);
    if (op->hasAttr("no_strides")) {
      expect(!view, "expected no strides", text);
      return;
    }
    expect(view.has_value(), "expected strides", text);
    if (!view)
      return;
    llvm::ArrayRef<int64_t> shape = nap::tensorType(value).getShape();
    for (int64_t place = 0; place < nap::tensorType(value).getNumElements(); ++place) {
      Index index = unflat(place, shape);
      int64_t found = view->offset;
      for (auto [i, stride] : llvm::zip_equal(index, view->strides))
        found += i * stride;
      expect(found == rootElement(value, index), "wrong element", text);
    }
    expect(isa<BlockArgument>(view->root), "the root is no argument", text);
  });
}

static constexpr llvm::StringLiteral kModule = R"mlir(
func.func @views(%x: tensor<4x6x6xf32>, %line: tensor<12xf32>, %number: tensor<f32>) {
  %split = nap.reshape %x : tensor<4x6x6xf32> -> tensor<2x2x6x3x2xf32>
  %joined = nap.reshape %split : tensor<2x2x6x3x2xf32> -> tensor<4x36xf32>
  %ones = nap.reshape %joined : tensor<4x36xf32> -> tensor<1x4x1x36x1xf32>
  %turned = nap.permute %x [2, 0, 1] : tensor<4x6x6xf32> -> tensor<6x4x6xf32>
  %kept = nap.reshape %turned : tensor<6x4x6xf32> -> tensor<2x3x24xf32>
  %lost = nap.reshape %turned {no_strides} : tensor<6x4x6xf32> -> tensor<24x6xf32>
  %across = nap.reshape %turned {no_strides} : tensor<6x4x6xf32> -> tensor<4x36xf32>
  %back = nap.slice %x [3, 5, 4] step [-1, -2, -1] : tensor<4x6x6xf32> -> tensor<4x3x5xf32>
  %halves = nap.reshape %back : tensor<4x3x5xf32> -> tensor<2x2x3x5xf32>
  %narrow = nap.reshape %back {no_strides} : tensor<4x3x5xf32> -> tensor<4x15xf32>
  %diagonal = nap.diagonal %x axes 1, 2 : tensor<4x6x6xf32> -> tensor<4x6xf32>
  %thirds = nap.reshape %diagonal : tensor<4x6xf32> -> tensor<4x3x2xf32>
  %wide = nap.broadcast %diagonal [1, 3] : tensor<4x6xf32> -> tensor<5x4x2x6xf32>
  %window = nap.window %x sizes [3, 2] strides [2, 1] dilations [1, 2] : tensor<4x6x6xf32> -> tensor<4x2x4x3x2xf32>
  %windowed = nap.window %line sizes [3] strides [1] dilations [4] : tensor<12xf32> -> tensor<4x3xf32>
  %whole = nap.permute %windowed [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
  %flat = nap.reshape %whole : tensor<3x4xf32> -> tensor<12xf32>
  %many = nap.broadcast %number [] : tensor<f32> -> tensor<3x4xf32>
  %all = nap.reshape %many : tensor<3x4xf32> -> tensor<12xf32>
  %one = nap.reshape %number : tensor<f32> -> tensor<1x1xf32>
  return
}
)mlir";

int main() {
  MLIRContext context;
  context.loadDialect<nap::NapDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kModule, &context);
  if (!module)
    return 1;
  for (auto function : module->getOps<func::FuncOp>())
    checkFunction(function);
  return failures != 0;
}
