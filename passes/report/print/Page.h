// What pages of HTML share.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace nap {

/// Text between tags.
std::string escaped(llvm::StringRef text);

/// A row of cells, the first of them a name.
void writeRow(llvm::raw_ostream &out, llvm::ArrayRef<std::string> cells, const char *tag = "td");

/// Everything up to the first heading, which it writes too; `style` is CSS beside that of tables
/// and drawings.
void beginPage(llvm::raw_ostream &out, llvm::StringRef title, llvm::StringRef style = "");
void endPage(llvm::raw_ostream &out);

} // namespace nap
