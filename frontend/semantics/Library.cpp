//===- Library.cpp - Files, and the functions that each sees --------------===//

#include "frontend/semantics/Library.h"
#include "frontend/primitives/Primitive.h"
#include "frontend/syntax/Parser.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace napkin {

void Library::collectFunctions(LibraryFile &file) {
  for (const std::unique_ptr<ast::Function> &function : file.tree->functions) {
    const ast::Name &name = function->name;
    if (findPrimitive(name.text)) {
      diagnostics.report<Error::RedefinesPrimitive>(name.range, name.text);
      continue;
    }
    const Callable &callable =
        callables.emplace_back(Callable{name.text, function.get(), &file, nullptr});
    auto [entry, isNew] = file.own.insert({name.text, &callable});
    if (!isNew)
      diagnostics.report<Error::FunctionDefinedTwice>(name.range, name.text)
          .note(entry->second->function->name.range, "the first '{}'", name.text);
  }
}

void Library::bringIn(LibraryFile &file) {
  for (const ast::Use &use : file.tree->uses) {
    std::filesystem::path own(std::string(file.tree->source->name()));
    std::string text(use.from->text());
    std::string path = (own.parent_path() / text).lexically_normal().string();
    LibraryFile *other = loadFile(path, use.from->range);
    if (!other)
      continue;
    for (const ast::Name &name : use.names) {
      auto found = other->own.find(name.text);
      if (found == other->own.end() || found->second->function->kind == ast::FunctionKind::Model) {
        std::vector<std::string_view> candidates;
        for (const auto &[candidate, callable] : other->own)
          candidates.push_back(candidate);
        Diagnostic &error = diagnostics.report<Error::UseOfMissing>(name.range, text, name.text);
        if (std::string_view near = closestName(name.text, candidates); !near.empty())
          error.hint("did you mean '{}'?", near);
        continue;
      }
      if (file.own.contains(name.text) || file.used.contains(name.text)) {
        diagnostics.report<Error::UseOfDefined>(name.range, name.text);
        continue;
      }
      file.used[name.text] = found->second;
      file.usedAt[name.text] = name.range;
    }
  }
}

LibraryFile *Library::loadFile(const std::string &path, Range from) {
  std::string key = std::filesystem::path(path).lexically_normal().string();
  if (std::find(loading.begin(), loading.end(), key) != loading.end()) {
    diagnostics.report<Error::UseCycle>(from, path);
    return nullptr;
  }
  if (auto known = files.find(key); known != files.end())
    return known->second.get();
  std::string reason;
  const Source *source = sources.load(path, reason);
  if (!source) {
    diagnostics.report<Error::CannotRead>(from, path, reason);
    return nullptr;
  }
  auto file = std::make_unique<LibraryFile>();
  LibraryFile *result = file.get();
  result->tree = parse(*source, diagnostics);
  files[key] = std::move(file);
  loading.push_back(key);
  collectFunctions(*result);
  bringIn(*result);
  loading.pop_back();
  return result;
}

void Library::loadPrelude() {
  preludeTable = std::make_unique<LibraryFile>();
  preludeTable->isPrelude = true;
  for (const Source *source : sources.loadPrelude()) {
    auto file = std::make_unique<LibraryFile>();
    file->isPrelude = true;
    file->tree = parse(*source, diagnostics);
    collectFunctions(*file);
    for (const auto &[name, callable] : file->own)
      preludeTable->own.insert({name, callable});
    preludeTrees.push_back(std::move(file));
  }
}

const LibraryFile *Library::load(const std::string &path) {
  loadPrelude();
  return loadFile(path, {});
}

const Callable *Library::find(const LibraryFile &file, std::string_view name) const {
  if (auto found = file.own.find(name); found != file.own.end())
    return found->second;
  if (auto found = file.used.find(name); found != file.used.end())
    return found->second;
  if (auto found = preludeTable->own.find(name); found != preludeTable->own.end())
    return found->second;
  const Primitive *primitive = findPrimitive(name);
  return primitive ? &primitive->callable : nullptr;
}

std::vector<std::string_view> Library::names(const LibraryFile &file) const {
  std::set<std::string_view> all;
  for (const auto *table : {&file.own, &file.used, &std::as_const(preludeTable->own)})
    for (const auto &[name, callable] : *table)
      all.insert(name);
  for (std::string_view name : primitiveNames())
    all.insert(name);
  return {all.begin(), all.end()};
}

} // namespace napkin
