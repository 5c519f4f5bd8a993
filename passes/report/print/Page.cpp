// Pages need nothing else: drawings are SVG, there are no scripts.
#include "passes/report/print/Page.h"

using namespace nap;

std::string nap::escaped(llvm::StringRef text) {
  std::string out;
  for (char letter : text)
    out += letter == '<'   ? "&lt;"
           : letter == '>' ? "&gt;"
           : letter == '&' ? "&amp;"
           : letter == '"' ? "&quot;"
                           : std::string(1, letter);
  return out;
}

void nap::writeRow(llvm::raw_ostream &out, llvm::ArrayRef<std::string> cells, const char *tag) {
  out << "<tr>";
  for (const std::string &cell : cells)
    out << '<' << tag << '>' << escaped(cell) << "</" << tag << '>';
  out << "</tr>\n";
}

void nap::beginPage(llvm::raw_ostream &out, llvm::StringRef title, llvm::StringRef style) {
  out << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>"
      << escaped(title)
      << "</title>\n<style>body{font:14px sans-serif;max-width:75em;margin:2em "
         "auto}table{border-collapse:collapse}"
         "td,th{padding:2px 8px;text-align:right;border-bottom:1px solid "
         "#ddd}td:first-child,th:first-child{text-align:left}"
         "svg{width:100%;border:1px solid #ddd}"
      << style << "</style></head><body>\n<h1>" << escaped(title) << "</h1>\n";
}

void nap::endPage(llvm::raw_ostream &out) { out << "</body></html>\n"; }
