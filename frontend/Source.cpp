//===- Source.cpp - Texts of model files, and places in them --------------===//

#include "frontend/Source.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <utility>

namespace napkin {

Source::Source(unsigned id, std::string name, std::string text)
    : number(id), nameText(std::move(name)), content(std::move(text)) {
  lineStarts.push_back(0);
  for (uint32_t at = 0; at < content.size(); ++at)
    if (content[at] == '\n')
      lineStarts.push_back(at + 1);
}

uint32_t Source::lineBegin(unsigned line) const { return lineStarts[line - 1]; }

std::string_view Source::lineText(unsigned line) const {
  uint32_t begin = lineBegin(line);
  uint32_t end = line < lineStarts.size() ? lineStarts[line] - 1 : content.size();
  if (end > begin && content[end - 1] == '\r')
    --end;
  return std::string_view(content).substr(begin, end - begin);
}

unsigned Source::line(uint32_t offset) const {
  auto next = std::upper_bound(lineStarts.begin(), lineStarts.end(),
                               std::min<uint32_t>(offset, content.size()));
  return static_cast<unsigned>(next - lineStarts.begin());
}

LineColumn Source::position(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, content.size());
  unsigned inLine = line(offset), column = 1;
  for (uint32_t at = lineBegin(inLine); at < offset; ++at)
    if ((content[at] & 0xC0) != 0x80) // a byte that continues a character counts nothing
      ++column;
  return {inLine, column};
}

const Source &Sources::add(std::string name, std::string text) {
  all.push_back(std::make_unique<Source>(all.size(), std::move(name), std::move(text)));
  return *all.back();
}

const Source *Sources::load(const std::string &path, std::string &reason) {
  for (const std::unique_ptr<Source> &source : all)
    if (source->name() == path && !source->isPrelude() &&
        std::find(loaded.begin(), loaded.end(), path) == loaded.end())
      return source.get();
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    reason = std::strerror(errno);
    if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z')
      reason[0] += 'a' - 'A';
    return nullptr;
  }
  if (S_ISDIR(status.st_mode)) {
    reason = "a directory, not a file";
    return nullptr;
  }
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file) {
    reason = std::strerror(errno);
    if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z')
      reason[0] += 'a' - 'A';
    return nullptr;
  }
  // Read to the end rather than by size: a pipe has none.
  std::string text;
  char buffer[1 << 16];
  bool failed = false;
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), file)) {
    text.append(buffer, count);
    if (text.size() > maxBytes)
      break;
  }
  failed = std::ferror(file);
  std::fclose(file);
  if (text.size() > maxBytes) {
    reason = "larger than 64 MiB";
    return nullptr;
  }
  if (failed) {
    reason = "cannot be read";
    return nullptr;
  }
  loaded.push_back(path);
  return &add(path, std::move(text));
}

const std::vector<const Source *> &Sources::loadPrelude() {
  if (!prelude.empty())
    return prelude;
  for (const PreludeFile &file : preludeFiles()) {
    auto source =
        std::make_unique<Source>(all.size(), std::string(file.name), std::string(file.text));
    source->markEmbedded();
    prelude.push_back(source.get());
    all.push_back(std::move(source));
  }
  return prelude;
}

} // namespace napkin
