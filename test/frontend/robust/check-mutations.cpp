// Checks model files with something changed: check-mutations ROUNDS FOLDER FILE...
//
// Each copy has a word replaced by another of the file, a token dropped or doubled, a line dropped,
// or a number changed; it is written to FOLDER and checked as `napkin check` does. Whatever was
// changed, the check ends: without errors, or with errors that each have a place.
#include "frontend/Frontend.h"
#include "frontend/syntax/Lexer.h"

#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

using namespace napkin;

static std::mt19937 randomBits(5);

static size_t below(size_t bound) { return bound ? randomBits() % bound : 0; }

/// A copy of a text with one thing changed.
static std::string change(const Source &source, const std::vector<syntax::Token> &tokens) {
  std::string text(source.text());
  const syntax::Token &one = tokens[below(tokens.size() - 1)];
  const syntax::Token &other = tokens[below(tokens.size() - 1)];
  std::string word = text.substr(one.begin, one.end - one.begin);
  std::string otherWord = text.substr(other.begin, other.end - other.begin);
  switch (below(6)) {
  case 0: // a token where another stood
    return text.replace(one.begin, one.end - one.begin, otherWord);
  case 1: // a token less
    return text.erase(one.begin, one.end - one.begin);
  case 2: // a token twice
    return text.insert(one.end, " " + word);
  case 3: { // a line less
    unsigned line = 1 + below(source.lineCount());
    return text.erase(source.lineBegin(line), source.lineText(line).size());
  }
  default: { // a name or a number where one of its kind stood
    static const char *const numbers[] = {"0", "1", "2", "7", "0.5", "1e300", "9223372036854775807",
                                          "-1"};
    for (unsigned attempt = 0; attempt < 50; ++attempt) {
      const syntax::Token &a = tokens[below(tokens.size() - 1)],
                          &b = tokens[below(tokens.size() - 1)];
      if (a.kind == syntax::TokenKind::Number)
        return text.replace(a.begin, a.end - a.begin, numbers[below(8)]);
      if (a.kind == b.kind &&
          (a.kind == syntax::TokenKind::Word || a.kind == syntax::TokenKind::String))
        return text.replace(a.begin, a.end - a.begin, text.substr(b.begin, b.end - b.begin));
    }
    return text;
  }
  }
}

/// Checks the file at `path`; false, with a message, if an error has no place.
static bool survives(const std::string &path, const std::string &what, unsigned &wrong) {
  Sources sources;
  Diagnostics diagnostics;
  auto begin = std::chrono::steady_clock::now();
  bool isGood = checkModel(sources, path, Options(), diagnostics);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (seconds.count() > 30)
    fmt::print("{}: took {:.0f} seconds\n", what, seconds.count());
  std::string shown = diagnostics.render();
  wrong += !isGood;
  if (isGood != diagnostics.hasErrors() && (isGood || shown.starts_with(path + ":")))
    return true;
  fmt::print("{}: {}\n{}", what, isGood ? "good, and has errors" : "no error with a place", shown);
  return false;
}

int main(int count, char **words) {
  unsigned rounds = std::stoul(words[1]), wrong = 0, copies = 0;
  bool isGood = true;
  for (int index = 3; index < count; ++index) {
    std::string name = words[index], reason, path = std::string(words[2]) + "/changed.nap";
    Sources sources;
    Diagnostics diagnostics;
    const Source *source = sources.load(name, reason);
    if (!source)
      return 2;
    Range all = {source, 0, static_cast<uint32_t>(source->text().size())};
    std::vector<syntax::Token> tokens = syntax::lex(all, diagnostics).tokens;
    for (unsigned round = 0; round < rounds; ++round, ++copies) {
      std::string text = change(*source, tokens);
      // Its name is in the file, should the check not come back.
      std::string what = fmt::format("{} round {}", name, round);
      if (std::FILE *file = std::fopen(path.c_str(), "wb")) {
        std::fwrite(text.data(), 1, text.size(), file);
        std::fclose(file);
      }
      if (!survives(path, what, wrong)) {
        std::rename(path.c_str(), fmt::format("{}/{}.nap", words[2], copies).c_str());
        isGood = false;
      }
    }
  }
  fmt::print("{} copies, {} with errors\n", copies, wrong);
  return isGood ? 0 : 1;
}
