//===- target.cc - Target struct and its JSON form ------------------------===//
#include "target/target.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "runtime/support/file.h"

#include <cmath>

using nlohmann::json;
using npu::rt::DType;
using npu::rt::Opcode;

namespace npu::target {

double Rates::of(DType type) const {
  switch (type) {
  case DType::kI8:
  case DType::kU8:
  case DType::kBool:
    return i8;
  case DType::kI16:
  case DType::kU16:
    return i16;
  case DType::kI32:
  case DType::kU32:
    return i32;
  case DType::kI64:
  case DType::kU64:
    return i32 / 2;
  case DType::kF16:
  case DType::kBF16:
    return f16;
  case DType::kF32:
    return f32;
  case DType::kF64:
    return f32 / 2;
  }
  return 0;
}

const std::set<std::string> &Kernels::of(DType type) const {
  switch (type) {
  case DType::kI8:
  case DType::kU8:
  case DType::kBool:
    return i8;
  case DType::kI16:
  case DType::kU16:
    return i16;
  case DType::kI32:
  case DType::kI64:
  case DType::kU32:
  case DType::kU64:
    return i32;
  case DType::kF16:
  case DType::kBF16:
    return f16;
  case DType::kF32:
  case DType::kF64:
    break;
  }
  return f32;
}

std::set<std::string> &Kernels::of(DType type) {
  return const_cast<std::set<std::string> &>(
      static_cast<const Kernels *>(this)->of(type));
}

const std::set<std::string> &allKernels() {
  static const auto *names = new std::set<std::string>{
      "argmax",           "binary",  "conv2d", "convert",
      "depthwise_conv2d", "gather",  "lut",    "matmul",
      "grouped_conv2d",   "pool2d",  "reduce", "resize2d",
      "requantize",       "softmax", "unary",  "vector_mac"};
  return *names;
}

const char *kernelName(Opcode opcode) {
  switch (opcode) {
  case Opcode::kNop:
  case Opcode::kDma:
  case Opcode::kFill:
    return "";
  case Opcode::kConv2d:
    return "conv2d";
  case Opcode::kDepthwiseConv2d:
    return "depthwise_conv2d";
  case Opcode::kMatmul:
    return "matmul";
  case Opcode::kPool2d:
    return "pool2d";
  case Opcode::kReduce:
    return "reduce";
  case Opcode::kBinary:
  case Opcode::kCompare:
  case Opcode::kSelect:
    return "binary";
  case Opcode::kUnary:
    return "unary";
  case Opcode::kLut:
    return "lut";
  case Opcode::kSoftmax:
    return "softmax";
  case Opcode::kResize2d:
    return "resize2d";
  case Opcode::kGather:
    return "gather";
  case Opcode::kConvert:
    return "convert";
  case Opcode::kVectorMac:
    return "vector_mac";
  case Opcode::kRequantize:
    return "requantize";
  case Opcode::kArgMax:
    return "argmax";
  }
  return "";
}

bool operator==(const Target &a, const Target &b) {
  // The JSON form is complete and canonical.
  return toJson(a) == toJson(b);
}

//===----------------------------------------------------------------------===//
// Fields: one list for reading and writing
//===----------------------------------------------------------------------===//

namespace {

constexpr double kMaxNumber = 1e15;

/// Reads fields out of a JSON object, remembers the first error.
class Reader {
public:
  Reader(const json &object, std::string path, bool partial,
         absl::Status &status)
      : object_(object), path_(std::move(path)), partial_(partial),
        status_(status) {
    if (!object_.is_object())
      fail(path_, absl::StrCat("expected an object, got ", describe(object_)));
  }

  void number(const char *key, double &value, double low) {
    const json *v = find(key);
    if (!v)
      return;
    if (!v->is_number())
      return fail(at(key),
                  absl::StrCat("expected a number, got ", describe(*v)));
    double d = v->get<double>();
    if (!(d >= low && d <= kMaxNumber))
      return fail(at(key), absl::StrCat("must be in [", low, ", ", kMaxNumber,
                                        "], got ", d));
    value = d;
  }

  void integer(const char *key, int64_t &value, int64_t low,
               int64_t high = int64_t{1} << 40) {
    const json *v = find(key);
    if (!v)
      return;
    if (!v->is_number_integer())
      return fail(at(key),
                  absl::StrCat("expected an integer, got ", describe(*v)));
    double d = v->get<double>();
    if (d < static_cast<double>(low) || d > static_cast<double>(high))
      return fail(at(key), absl::StrCat("must be in [", low, ", ", high,
                                        "], got ", v->dump()));
    value = v->get<int64_t>();
  }

  void boolean(const char *key, bool &value) {
    const json *v = find(key);
    if (!v)
      return;
    if (!v->is_boolean())
      return fail(at(key),
                  absl::StrCat("expected true or false, got ", describe(*v)));
    value = v->get<bool>();
  }

  void string(const char *key, std::string &value) {
    const json *v = find(key);
    if (!v)
      return;
    if (!v->is_string() || v->get<std::string>().empty())
      return fail(at(key), absl::StrCat("expected a non-empty string, got ",
                                        describe(*v)));
    value = v->get<std::string>();
  }

  void rates(const char *key, Rates &value) {
    object(key, [&](Reader &r) {
      r.number("i8", value.i8, 0);
      r.number("i16", value.i16, 0);
      r.number("i32", value.i32, 0);
      r.number("f16", value.f16, 0);
      r.number("f32", value.f32, 0);
    });
  }

  void names(const char *key, std::set<std::string> &value) {
    const json *v = find(key);
    if (!v)
      return;
    if (!v->is_array())
      return fail(at(key), absl::StrCat("expected a list of kernel names, got ",
                                        describe(*v)));
    value.clear();
    for (size_t i = 0; i < v->size(); ++i) {
      const json &name = (*v)[i];
      if (!name.is_string() || !allKernels().count(name.get<std::string>()))
        return fail(absl::StrCat(at(key), "/", i),
                    absl::StrCat("no kernel ", name.dump(), "; there are ",
                                 absl::StrJoin(allKernels(), ", ")));
      value.insert(name.get<std::string>());
    }
  }

  template <typename Fn> void object(const char *key, Fn fields) {
    const json *v = find(key);
    if (!v)
      return;
    Reader reader(*v, at(key), partial_, status_);
    fields(reader);
    reader.finish();
  }

  /// Refuses keys that nobody asked for.
  void finish() {
    if (!status_.ok())
      return;
    for (const auto &item : object_.items())
      if (!known_.count(item.key()))
        return fail(at(item.key()), absl::StrCat("unknown key; there are ",
                                                 absl::StrJoin(known_, ", ")));
  }

  void fail(const std::string &path, const std::string &what) {
    if (status_.ok())
      status_ = absl::InvalidArgumentError(
          absl::StrCat("target ", path.empty() ? "/" : path, ": ", what));
  }

  static std::string describe(const json &v) {
    std::string text = v.dump(-1, ' ', false, json::error_handler_t::replace);
    return absl::StrCat(v.type_name(), " ",
                        text.size() > 40 ? text.substr(0, 40) + "..." : text);
  }

private:
  std::string at(const std::string &key) const { return path_ + "/" + key; }

  const json *find(const char *key) {
    known_.insert(key);
    if (!status_.ok())
      return nullptr;
    auto it = object_.find(key);
    if (it != object_.end())
      return &*it;
    if (!partial_)
      fail(at(key), "missing; give it, or name a preset in \"base\"");
    return nullptr;
  }

  const json &object_;
  std::string path_;
  bool partial_;
  absl::Status &status_;
  std::set<std::string> known_;
};

void readMatrix(Reader &r, MatrixEngine &m) {
  r.rates("macs_per_cycle", m.macs_per_cycle);
  r.integer("block_height", m.block_height, 1, 1024);
  r.integer("block_width", m.block_width, 1, 1024);
  r.integer("block_ic", m.block_ic, 1, 4096);
  r.integer("block_oc", m.block_oc, 1, 4096);
  r.number("weights_per_cycle", m.weights_per_cycle, 1e-3);
  r.integer("pass_pixels", m.pass_pixels, 1);
  r.number("outputs_per_cycle", m.outputs_per_cycle, 1e-3);
  r.number("command_cycles", m.command_cycles, 0);
}

void readMemory(Reader &r, Memory &m) {
  r.integer("sram_bytes", m.sram_bytes, 0);
  r.integer("sram_banks", m.sram_banks, 0, 4096);
  r.number("sram_bytes_per_cycle", m.sram_bytes_per_cycle, 0);
  r.integer("dma_channels", m.dma_channels, 0, 64);
  r.number("dma_bytes_per_cycle", m.dma_bytes_per_cycle, 0);
  r.number("dma_latency_cycles", m.dma_latency_cycles, 0);
  r.number("dram_bytes_per_cycle", m.dram_bytes_per_cycle, 1e-3);
  r.number("const_bytes_per_cycle", m.const_bytes_per_cycle, 1e-3);
  r.boolean("const_in_dram", m.const_in_dram);
  r.integer("burst_bytes", m.burst_bytes, 1, 1 << 20);
}

void readTarget(Reader &r, Target &t) {
  r.string("name", t.name);
  r.number("clock_mhz", t.clock_mhz, 1e-3);
  r.integer("cores", t.cores, 1, 64);
  r.object("matrix", [&](Reader &o) { readMatrix(o, t.matrix); });
  r.object("depthwise", [&](Reader &o) {
    o.rates("macs_per_cycle", t.depthwise.macs_per_cycle);
    o.integer("kernel_step", t.depthwise.kernel_step, 1, 1024);
    o.boolean("multiplier", t.depthwise.multiplier);
  });
  r.object("vector", [&](Reader &o) {
    o.rates("lanes", t.vector.lanes);
    o.number("command_cycles", t.vector.command_cycles, 0);
  });
  r.object("memory", [&](Reader &o) { readMemory(o, t.memory); });
  r.object("kernels", [&](Reader &o) {
    o.names("i8", t.kernels.i8);
    o.names("i16", t.kernels.i16);
    o.names("i32", t.kernels.i32);
    o.names("f16", t.kernels.f16);
    o.names("f32", t.kernels.f32);
  });
}

/// Relations between fields.
void checkTarget(Reader &r, const Target &t) {
  const Memory &m = t.memory;
  if ((m.sram_bytes == 0) != (m.sram_banks == 0))
    r.fail("/memory/sram_banks",
           "must be 0 exactly when sram_bytes is 0 (unified memory)");
  if (m.sram_bytes > 0 && m.sram_bytes < 4096)
    r.fail("/memory/sram_bytes", "fewer than 4096 bytes hold no tile");
  if (m.sram_bytes > 0 && (m.sram_bytes_per_cycle <= 0 || m.dma_channels == 0 ||
                           m.dma_bytes_per_cycle <= 0))
    r.fail("/memory", "with SRAM, sram_bytes_per_cycle, dma_channels and "
                      "dma_bytes_per_cycle must be positive");
  const DType types[] = {DType::kI8, DType::kI16, DType::kF16, DType::kF32};
  const char *names[] = {"i8", "i16", "f16", "f32"};
  for (int i = 0; i < 4; ++i) {
    for (const std::string &kernel : t.kernels.of(types[i])) {
      bool matrix = kernel == "conv2d" || kernel == "grouped_conv2d" ||
                    kernel == "matmul";
      const Rates &rates = matrix ? t.matrix.macs_per_cycle
                           : kernel == "depthwise_conv2d"
                               ? t.depthwise.macs_per_cycle
                               : t.vector.lanes;
      if (rates.of(types[i]) <= 0)
        r.fail(absl::StrCat("/kernels/", names[i]),
               absl::StrCat("has ", kernel, ", but its engine's ", names[i],
                            " rate is 0"));
    }
  }
}

json ratesJson(const Rates &r) {
  return {{"i8", r.i8},
          {"i16", r.i16},
          {"i32", r.i32},
          {"f16", r.f16},
          {"f32", r.f32}};
}

} // namespace

std::string toJson(const Target &t) {
  nlohmann::ordered_json j;
  j["name"] = t.name;
  j["clock_mhz"] = t.clock_mhz;
  j["cores"] = t.cores;
  const MatrixEngine &m = t.matrix;
  j["matrix"] = {{"macs_per_cycle", ratesJson(m.macs_per_cycle)},
                 {"block_height", m.block_height},
                 {"block_width", m.block_width},
                 {"block_ic", m.block_ic},
                 {"block_oc", m.block_oc},
                 {"weights_per_cycle", m.weights_per_cycle},
                 {"pass_pixels", m.pass_pixels},
                 {"outputs_per_cycle", m.outputs_per_cycle},
                 {"command_cycles", m.command_cycles}};
  j["depthwise"] = {{"macs_per_cycle", ratesJson(t.depthwise.macs_per_cycle)},
                    {"kernel_step", t.depthwise.kernel_step},
                    {"multiplier", t.depthwise.multiplier}};
  j["vector"] = {{"lanes", ratesJson(t.vector.lanes)},
                 {"command_cycles", t.vector.command_cycles}};
  const Memory &mem = t.memory;
  j["memory"] = {{"sram_bytes", mem.sram_bytes},
                 {"sram_banks", mem.sram_banks},
                 {"sram_bytes_per_cycle", mem.sram_bytes_per_cycle},
                 {"dma_channels", mem.dma_channels},
                 {"dma_bytes_per_cycle", mem.dma_bytes_per_cycle},
                 {"dma_latency_cycles", mem.dma_latency_cycles},
                 {"dram_bytes_per_cycle", mem.dram_bytes_per_cycle},
                 {"const_bytes_per_cycle", mem.const_bytes_per_cycle},
                 {"const_in_dram", mem.const_in_dram},
                 {"burst_bytes", mem.burst_bytes}};
  const Kernels &k = t.kernels;
  j["kernels"] = {{"i8", k.i8},
                  {"i16", k.i16},
                  {"i32", k.i32},
                  {"f16", k.f16},
                  {"f32", k.f32}};
  return j.dump(2, ' ', false,
                nlohmann::ordered_json::error_handler_t::replace);
}

namespace {
/// json::parse with duplicate keys refused and no exception leaving it.
absl::StatusOr<json> parseStrict(absl::string_view text) {
  std::vector<std::set<std::string>> keys;
  std::string duplicate;
  auto callback = [&](int, json::parse_event_t event, json &value) {
    if (event == json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == json::parse_event_t::object_end && !keys.empty())
      keys.pop_back();
    else if (event == json::parse_event_t::key &&
             !keys.back().insert(value.get<std::string>()).second)
      duplicate = value.get<std::string>();
    return true;
  };
  json document;
  try {
    document = json::parse(text.begin(), text.end(), callback);
  } catch (const json::exception &e) {
    return absl::InvalidArgumentError(
        absl::StrCat("target: not valid JSON: ", e.what()));
  }
  if (!duplicate.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("target: key \"", duplicate, "\" is given twice"));
  return document;
}
} // namespace

absl::StatusOr<Target> parseJson(absl::string_view text) {
  absl::StatusOr<json> document = parseStrict(text);
  if (!document.ok())
    return document.status();
  Target target;
  bool partial = false;
  if (document->is_object() && document->contains("base")) {
    const json &base = (*document)["base"];
    if (!base.is_string())
      return absl::InvalidArgumentError(
          absl::StrCat("target /base: expected the name of a preset, got ",
                       Reader::describe(base)));
    absl::StatusOr<Target> found = preset(base.get<std::string>());
    if (!found.ok())
      return absl::InvalidArgumentError(absl::StrCat(
          "target /base: ", std::string(found.status().message())));
    target = *found;
    partial = true;
    document->erase("base");
  }
  absl::Status status;
  Reader reader(*document, "", partial, status);
  readTarget(reader, target);
  reader.finish();
  if (status.ok())
    checkTarget(reader, target);
  if (!status.ok())
    return status;
  return target;
}

absl::StatusOr<Target> load(const std::string &name) {
  if (name.find_first_of("/.") == std::string::npos)
    return preset(name);
  absl::StatusOr<std::string> text = rt::readFile(name);
  if (!text.ok())
    return absl::Status(text.status().code(),
                        absl::StrCat(text.status().message(),
                                     "; give a JSON file or one of ",
                                     absl::StrJoin(presetNames(), ", ")));
  absl::StatusOr<Target> target = parseJson(*text);
  if (!target.ok())
    return absl::Status(
        target.status().code(),
        absl::StrCat(name, ": ", std::string(target.status().message())));
  return target;
}

} // namespace npu::target
