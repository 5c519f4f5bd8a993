// Json: RapidJSON's iterative reader fills a tree.

#include "runtime/files/Json.h"

#include <cmath>
#include <fmt/format.h>
// Its empty stack is a null pointer to which it adds before it compares; harmless, and not ours.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif

namespace napkin::runtime {

static constexpr size_t depthLimit = 64;
/// A header of 100 MB could else become many gigabytes of values.
static constexpr size_t valueLimit = 4'000'000;

namespace {
/// Takes the reader's events; false stops it.
class TreeBuilder {
public:
  Json root;
  bool tooDeep = false;
  size_t values = 0;

  bool Null() { return put({}); }
  bool Bool(bool value) {
    Json json;
    json.kind = Json::Kind::boolean;
    json.boolean = value;
    return put(std::move(json));
  }
  bool Int(int value) { return Int64(value); }
  bool Uint(unsigned value) { return Uint64(value); }
  bool Int64(int64_t value) {
    Json json = ofNumber(static_cast<double>(value));
    json.whole = value;
    if (value >= 0)
      json.count = static_cast<uint64_t>(value);
    return put(std::move(json));
  }
  bool Uint64(uint64_t value) {
    Json json = ofNumber(static_cast<double>(value));
    if (value <= INT64_MAX)
      json.whole = static_cast<int64_t>(value);
    json.count = value;
    return put(std::move(json));
  }
  bool Double(double value) { return put(ofNumber(value)); }
  bool RawNumber(const char *, rapidjson::SizeType, bool) { return false; }
  bool String(const char *text, rapidjson::SizeType length, bool) {
    Json json;
    json.kind = Json::Kind::string;
    json.string.assign(text, length);
    return put(std::move(json));
  }
  bool Key(const char *text, rapidjson::SizeType length, bool) {
    open.back()->names.emplace_back(text, length);
    return true;
  }
  bool StartObject() { return start(Json::Kind::object); }
  bool StartArray() { return start(Json::Kind::list); }
  bool EndObject(rapidjson::SizeType) { return end(); }
  bool EndArray(rapidjson::SizeType) { return end(); }

private:
  static Json ofNumber(double value) {
    Json json;
    json.kind = Json::Kind::number;
    json.number = value;
    return json;
  }

  /// The value goes to the end of the innermost open object or list, or is the root.
  Json *place(Json &&json) {
    if (open.empty()) {
      root = std::move(json);
      return &root;
    }
    open.back()->items.push_back(std::move(json));
    return &open.back()->items.back();
  }
  bool put(Json &&json) {
    place(std::move(json));
    return ++values <= valueLimit;
  }
  bool start(Json::Kind kind) {
    if (open.size() == depthLimit) {
      tooDeep = true;
      return false;
    }
    Json json;
    json.kind = kind;
    open.push_back(place(std::move(json)));
    return ++values <= valueLimit;
  }
  bool end() {
    open.pop_back();
    return true;
  }

  /// Open objects and lists; only the innermost grows, so the pointers stay good.
  std::vector<Json *> open;
};
} // namespace

const Json *Json::find(std::string_view name) const {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name)
      return &items[i];
  return nullptr;
}

/// RapidJSON's message in our manner: lower case, no full stop.
static std::string clause(rapidjson::ParseErrorCode code) {
  std::string message = rapidjson::GetParseError_En(code);
  if (!message.empty() && message.back() == '.')
    message.pop_back();
  if (!message.empty() && message[0] >= 'A' && message[0] <= 'Z')
    message[0] = static_cast<char>(message[0] - 'A' + 'a');
  return message;
}

std::optional<Json> parseJson(std::string_view text, std::string &problem) {
  constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag |
                             rapidjson::kParseNanAndInfFlag |
                             rapidjson::kParseValidateEncodingFlag;
  rapidjson::MemoryStream memory(text.data(), text.size());
  rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> stream(memory);
  rapidjson::Reader reader;
  TreeBuilder builder;
  rapidjson::ParseResult result = reader.Parse<flags>(stream, builder);
  if (builder.tooDeep) {
    problem = fmt::format("nested more than {} deep at byte {}", depthLimit, result.Offset());
    return std::nullopt;
  }
  if (builder.values > valueLimit) {
    problem = fmt::format("more than {} values at byte {}", valueLimit, result.Offset());
    return std::nullopt;
  }
  if (result.IsError()) {
    problem = fmt::format("{} at byte {}", clause(result.Code()), result.Offset());
    return std::nullopt;
  }
  return std::move(builder.root);
}

std::string quoteJson(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string numberJson(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value < 0 ? "-Infinity" : "Infinity";
  return fmt::format("{}", value);
}

} // namespace napkin::runtime
