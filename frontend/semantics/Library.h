//===- Library.h - Files, and the functions that each sees ----------------===//
#pragma once

#include "frontend/Ast.h"
#include "frontend/Diagnostics.h"
#include "frontend/values/Value.h"

#include <deque>
#include <map>
#include <memory>
#include <string>

namespace napkin {

/// One file, its functions, and those that it `use`s.
struct LibraryFile {
  std::unique_ptr<ast::File> tree;
  bool isPrelude = false;
  std::map<std::string_view, const Callable *> own;
  std::map<std::string_view, const Callable *> used;
  /// The `use` statement that brought a name in.
  std::map<std::string_view, Range> usedAt;
};

/// Loads files with what they use, and the prelude; finds functions by name.
class Library {
public:
  Library(Sources &sources, Diagnostics &diagnostics)
      : sources(sources), diagnostics(diagnostics) {}

  /// Reads a file and all that it uses, and the prelude. Null when it cannot be read.
  const LibraryFile *load(const std::string &path);
  /// A function as a file sees it: its own, what it uses, the prelude's, the primitives. Null:
  /// none.
  const Callable *find(const LibraryFile &file, std::string_view name) const;
  /// Every name that `find` would find, sorted.
  std::vector<std::string_view> names(const LibraryFile &file) const;
  /// The prelude's files alone, for texts of the command line.
  const LibraryFile &preludeFile() const { return *preludeTable; }

private:
  LibraryFile *loadFile(const std::string &path, Range from);
  void collectFunctions(LibraryFile &file);
  void bringIn(LibraryFile &file);
  void loadPrelude();

  Sources &sources;
  Diagnostics &diagnostics;
  std::deque<Callable> callables;
  std::map<std::string, std::unique_ptr<LibraryFile>> files;
  std::vector<std::string> loading;
  std::vector<std::unique_ptr<LibraryFile>> preludeTrees;
  std::unique_ptr<LibraryFile> preludeTable;
};

} // namespace napkin
