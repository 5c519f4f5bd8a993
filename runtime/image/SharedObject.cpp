// SharedObject: a small loader.

#include "runtime/image/SharedObject.h"

#include "runtime/files/File.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace napkin::runtime {

#if defined(__x86_64__)
static constexpr uint16_t wantedMachine = EM_X86_64;
static constexpr uint32_t relativeType = R_X86_64_RELATIVE;
static constexpr uint32_t globalType = R_X86_64_GLOB_DAT;
static constexpr uint32_t jumpType = R_X86_64_JUMP_SLOT;
static constexpr uint32_t absoluteType = R_X86_64_64;
#elif defined(__aarch64__)
static constexpr uint16_t wantedMachine = EM_AARCH64;
static constexpr uint32_t relativeType = R_AARCH64_RELATIVE;
static constexpr uint32_t globalType = R_AARCH64_GLOB_DAT;
static constexpr uint32_t jumpType = R_AARCH64_JUMP_SLOT;
static constexpr uint32_t absoluteType = R_AARCH64_ABS64;
#endif

static Error imageError(std::string_view problem, ExitStatus status = ExitStatus::wrongInput) {
  return {fmt::format("kernel image: {}", problem), status};
}

/// The steps of loading, in order; each leaves what the next one needs.
class SharedObjectLoader {
public:
  explicit SharedObjectLoader(std::span<const std::byte> image) : image(image) {}

  Result<SharedObject> load() {
    for (Failure (SharedObjectLoader::*step)() :
         {&SharedObjectLoader::readHeaders, &SharedObjectLoader::mapSegments,
          &SharedObjectLoader::readDynamic, &SharedObjectLoader::relocateAll,
          &SharedObjectLoader::protectSegments})
      if (Failure failure = (this->*step)())
        return *failure;
    return std::move(object);
  }

private:
  Failure readHeaders();
  Failure mapSegments();
  Failure readDynamic();
  Failure relocateAll();
  Failure protectSegments();
  Failure relocate(uint64_t table, uint64_t bytes);
  Result<uint64_t> addressOf(uint64_t symbolIndex) const;

  /// True if [address, address + bytes) lies in the mapping.
  bool inside(uint64_t address, uint64_t bytes) const {
    return address <= object.mappedBytes && bytes <= object.mappedBytes - address;
  }

  std::span<const std::byte> image;
  std::vector<Elf64_Phdr> segments;
  SharedObject object;
  uint64_t relocations = 0, relocationBytes = 0, jumps = 0, jumpBytes = 0;
};

Failure SharedObjectLoader::readHeaders() {
  Elf64_Ehdr header{};
  if (image.size() < sizeof(header))
    return imageError("is cut short");
  std::memcpy(&header, image.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_DYN)
    return imageError("is no 64-bit shared object");
  if (header.e_machine != wantedMachine)
    return imageError(fmt::format("is for machine {} and this one is {}; compile for this one",
                                  header.e_machine, wantedMachine));
  uint64_t bytes = uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > image.size() ||
      bytes > image.size() - header.e_phoff)
    return imageError("its program headers are broken");
  segments.resize(header.e_phnum);
  std::memcpy(segments.data(), image.data() + header.e_phoff, bytes);
  return std::nullopt;
}

Failure SharedObjectLoader::mapSegments() {
  constexpr uint64_t largest = uint64_t{1} << 32;
  uint64_t end = 0;
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type == PT_TLS || segment.p_type == PT_INTERP)
      return imageError("has thread-local storage or an interpreter, which kernels do not have");
    if (segment.p_type != PT_LOAD)
      continue;
    if (segment.p_filesz > segment.p_memsz || segment.p_offset > image.size() ||
        segment.p_filesz > image.size() - segment.p_offset || segment.p_vaddr > largest ||
        segment.p_memsz > largest)
      return imageError("a segment reaches beyond it");
    end = std::max(end, segment.p_vaddr + segment.p_memsz);
  }
  auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  object.mappedBytes = (end + page - 1) / page * page;
  if (object.mappedBytes == 0)
    return imageError("has nothing to load");
  void *mapped = mmap(nullptr, object.mappedBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return imageError(fmt::format("{} bytes cannot be mapped: {}", object.mappedBytes,
                                  systemProblem()),
                      ExitStatus::machineFailure);
  object.base = static_cast<std::byte *>(mapped);
  for (const Elf64_Phdr &segment : segments)
    if (segment.p_type == PT_LOAD)
      std::memcpy(object.base + segment.p_vaddr, image.data() + segment.p_offset,
                  segment.p_filesz);
  return std::nullopt;
}

Failure SharedObjectLoader::readDynamic() {
  uint64_t symbolTable = 0, stringTable = 0, stringBytes = 0, hash = 0;
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_DYNAMIC)
      continue;
    if (!inside(segment.p_vaddr, segment.p_memsz))
      return imageError("its dynamic section reaches beyond it");
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_memsz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry{};
      std::memcpy(&entry, object.base + segment.p_vaddr + at, sizeof(entry));
      if (entry.d_tag == DT_NULL)
        break;
      switch (entry.d_tag) {
      case DT_SYMTAB: symbolTable = entry.d_un.d_ptr; break;
      case DT_STRTAB: stringTable = entry.d_un.d_ptr; break;
      case DT_STRSZ: stringBytes = entry.d_un.d_val; break;
      case DT_HASH: hash = entry.d_un.d_ptr; break;
      case DT_RELA: relocations = entry.d_un.d_ptr; break;
      case DT_RELASZ: relocationBytes = entry.d_un.d_val; break;
      case DT_JMPREL: jumps = entry.d_un.d_ptr; break;
      case DT_PLTRELSZ: jumpBytes = entry.d_un.d_val; break;
      case DT_NEEDED: return imageError("needs a library; kernels are linked without any");
      case DT_RELR:
        return imageError("has packed relocations; link it with -z nopack-relative-relocs");
      case DT_INIT:
      case DT_INIT_ARRAY: return imageError("has constructors, which kernels do not have");
      default: break;
      }
    }
  }
  // The number of symbols stands in the hash table's second word, "nchain".
  uint32_t words[2] = {0, 0};
  if (hash == 0 || !inside(hash, sizeof(words)))
    return imageError("has no symbol hash table; link it with --hash-style=sysv");
  std::memcpy(words, object.base + hash, sizeof(words));
  uint64_t symbolBytes = uint64_t{words[1]} * sizeof(Elf64_Sym);
  if (!inside(symbolTable, symbolBytes) || !inside(stringTable, stringBytes) || stringBytes == 0 ||
      object.base[stringTable + stringBytes - 1] != std::byte{0})
    return imageError("its symbol tables reach beyond it");
  object.symbols = {object.base + symbolTable, symbolBytes};
  object.strings = {reinterpret_cast<const char *>(object.base + stringTable), stringBytes};
  return std::nullopt;
}

Result<uint64_t> SharedObjectLoader::addressOf(uint64_t symbolIndex) const {
  if (symbolIndex >= object.symbols.size() / sizeof(Elf64_Sym))
    return imageError("a relocation names a symbol that does not exist");
  Elf64_Sym symbol{};
  std::memcpy(&symbol, object.symbols.data() + symbolIndex * sizeof(symbol), sizeof(symbol));
  if (symbol.st_shndx != SHN_UNDEF)
    return reinterpret_cast<uint64_t>(object.base) + symbol.st_value;
  if (symbol.st_name >= object.strings.size())
    return imageError("a symbol's name lies beyond the string table");
  const char *name = object.strings.data() + symbol.st_name;
  if (void *address = dlsym(RTLD_DEFAULT, name))
    return reinterpret_cast<uint64_t>(address);
  if (ELF64_ST_BIND(symbol.st_info) == STB_WEAK)
    return uint64_t{0};
  return imageError(fmt::format("wants '{}', which neither this runtime nor the C library has",
                                name));
}

Failure SharedObjectLoader::relocate(uint64_t table, uint64_t bytes) {
  if (!inside(table, bytes))
    return imageError("its relocations reach beyond it");
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= bytes; at += sizeof(Elf64_Rela)) {
    Elf64_Rela entry{};
    std::memcpy(&entry, object.base + table + at, sizeof(entry));
    if (!inside(entry.r_offset, sizeof(uint64_t)))
      return imageError("a relocation lies beyond it");
    auto type = static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info));
    uint64_t value = 0;
    if (type == relativeType) {
      value = reinterpret_cast<uint64_t>(object.base) + static_cast<uint64_t>(entry.r_addend);
    } else if (type == globalType || type == jumpType || type == absoluteType) {
      Result<uint64_t> address = addressOf(ELF64_R_SYM(entry.r_info));
      if (!address)
        return address.error();
      value = *address + static_cast<uint64_t>(entry.r_addend);
    } else {
      return imageError(fmt::format("has a relocation of type {}, which is not known", type));
    }
    std::memcpy(object.base + entry.r_offset, &value, sizeof(value));
  }
  return std::nullopt;
}

Failure SharedObjectLoader::relocateAll() {
  if (Failure failure = relocate(relocations, relocationBytes))
    return failure;
  return relocate(jumps, jumpBytes);
}

Failure SharedObjectLoader::protectSegments() {
  auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_LOAD)
      continue;
    uint64_t first = segment.p_vaddr / page * page;
    uint64_t last = (segment.p_vaddr + segment.p_memsz + page - 1) / page * page;
    int protection = (segment.p_flags & PF_R ? PROT_READ : 0) |
                     (segment.p_flags & PF_W ? PROT_WRITE : 0) |
                     (segment.p_flags & PF_X ? PROT_EXEC : 0);
    if (mprotect(object.base + first, last - first, protection) != 0)
      return imageError(fmt::format("its pages cannot be protected: {}", systemProblem()),
                        ExitStatus::machineFailure);
    if (segment.p_flags & PF_X)
      __builtin___clear_cache(reinterpret_cast<char *>(object.base + first),
                              reinterpret_cast<char *>(object.base + last));
  }
  return std::nullopt;
}

Result<SharedObject> SharedObject::load(std::span<const std::byte> image) {
  return SharedObjectLoader(image).load();
}

SharedObject::SharedObject(SharedObject &&other) noexcept
    : base(std::exchange(other.base, nullptr)), mappedBytes(other.mappedBytes),
      symbols(other.symbols), strings(other.strings) {}

SharedObject::~SharedObject() {
  if (base)
    munmap(base, mappedBytes);
}

void *SharedObject::find(std::string_view wanted) const {
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol{};
    std::memcpy(&symbol, symbols.data() + at, sizeof(symbol));
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= strings.size() ||
        symbol.st_value >= mappedBytes)
      continue;
    if (wanted == strings.data() + symbol.st_name)
      return base + symbol.st_value;
  }
  return nullptr;
}

} // namespace napkin::runtime
