// Control flow that is known when building: branches taken, loops unrolled.
#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/compose.h"

namespace npu {

// An unrolled loop holds its body once for each trip.
constexpr int64_t kMostTrips = 1024;

namespace {

absl::StatusOr<const onnx::GraphProto *> graphOf(const Node &node,
                                                 const char *name) {
  const onnx::AttributeProto *a = node.attr(name);
  if (!a || !a->has_g())
    return absl::InvalidArgumentError(
        absl::StrCat("attribute \"", name, "\" is no graph"));
  return &a->g();
}

/// What one trip gave to every scan output, put together along `axis`.
Entry stacked(Compose &c, std::vector<Entry> trips, int64_t axis,
              bool backward) {
  if (backward)
    std::reverse(trips.begin(), trips.end());
  for (Entry &e : trips) {
    Dims dims = c.dims(e);
    dims.insert(dims.begin() + axis, 1);
    e = c.reshape(e, dims);
  }
  return c.concat(trips, axis);
}

absl::Status if_(Importer &im, const Node &node) {
  TensorPtr condition = im.constant(node, 0);
  if (!condition || condition->count() != 1)
    return im.unsupported("the condition must be constant after folding");
  NPU_ASSIGN(const onnx::GraphProto *branch,
             graphOf(node, condition->at(0) ? "then_branch" : "else_branch"));
  if (branch->output_size() != node.proto.output_size())
    return absl::InvalidArgumentError("branches and outputs do not fit");
  NPU_ASSIGN(std::vector<Entry> results, im.importBody(*branch, {}, ""));
  Compose c(im);
  for (size_t n = 0; n < results.size(); ++n)
    (void)c.bind(node, int(n), results[n]);
  return c.status();
}

absl::Status loop(Importer &im, const Node &node) {
  NPU_ASSIGN(const onnx::GraphProto *body, graphOf(node, "body"));
  TensorPtr trips = im.constant(node, 0), condition = im.constant(node, 1);
  if ((node.has(0) && !trips) || (node.has(1) && !condition))
    return im.unsupported("trip count and condition must be constant after "
                          "folding");
  for (const TensorPtr &t : {trips, condition})
    if (t && (t->count() != 1 || t->isFloat()))
      return absl::InvalidArgumentError(
          "trip count and condition must be one integer, one truth value");
  std::vector<Entry> carried;
  for (int n = 2; n < node.inputs(); ++n)
    carried.push_back(im.entry(node, n));
  int scans = body->output_size() - 1 - int(carried.size());
  if (body->input_size() != int(carried.size()) + 2 || scans < 0 ||
      node.proto.output_size() > int(carried.size()) + scans)
    return absl::InvalidArgumentError("body, inputs and outputs do not fit");
  std::vector<std::vector<Entry>> scanned(scans);
  bool go = !condition || condition->at(0);
  for (int64_t t = 0; go && (!trips || t < trips->at(0)); ++t) {
    if (t == kMostTrips)
      return im.unsupported(absl::StrCat("it runs for more than ", kMostTrips,
                                         " trips; at most that many are "
                                         "unrolled"));
    std::vector<Entry> arguments = {
        Compose::integers({}, {t}),
        Compose::integers({}, {1}, onnx::TensorProto::BOOL)};
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    NPU_ASSIGN(std::vector<Entry> results,
               im.importBody(*body, arguments, absl::StrCat("#", t)));
    TensorPtr next = results[0].constant;
    if (!next || next->count() != 1)
      return im.unsupported("whether it goes on depends on values that are not "
                            "known when building");
    go = next->at(0) != 0;
    carried.assign(results.begin() + 1, results.end() - scans);
    for (int n = 0; n < scans; ++n)
      scanned[n].push_back(results[1 + carried.size() + n]);
  }
  Compose c(im);
  for (size_t n = 0; n < carried.size(); ++n)
    (void)c.bind(node, int(n), carried[n]);
  for (int n = 0; n < scans; ++n) {
    if (scanned[n].empty())
      return Importer::refuse(RefusalKind::Empty,
                              "it makes no trip, and its outputs are empty");
    (void)c.bind(node, int(carried.size()) + n,
                 stacked(c, scanned[n], 0, false));
  }
  return c.status();
}

/// The dimensions that Scan runs along, and in which direction.
struct ScanPlan {
  const onnx::GraphProto *body;
  int64_t states, inputs, outputs, trips;
  Dims inputAxes, inputBackward, outputAxes, outputBackward;
};

absl::StatusOr<ScanPlan> planScan(const Node &node,
                                  const std::vector<Dims> &shapes) {
  ScanPlan p;
  NPU_ASSIGN(p.body, graphOf(node, "body"));
  p.inputs = node.i("num_scan_inputs", 0);
  p.states = int64_t(shapes.size()) - p.inputs;
  p.outputs = p.body->output_size() - p.states;
  if (p.inputs < 1 || p.states < 0 || p.outputs < 0 ||
      p.body->input_size() != int(shapes.size()) ||
      node.proto.output_size() > p.body->output_size())
    return absl::InvalidArgumentError("body, inputs and outputs do not fit");
  bool old = node.opset < 9; // these have one list, of inputs only
  p.inputAxes = node.ints("scan_input_axes", Dims(p.inputs, 0));
  p.inputBackward = node.ints(old ? "directions" : "scan_input_directions",
                              Dims(p.inputs, 0));
  p.outputAxes = node.ints("scan_output_axes", Dims(p.outputs, 0));
  p.outputBackward = node.ints("scan_output_directions", Dims(p.outputs, 0));
  if (int64_t(p.inputAxes.size()) != p.inputs ||
      int64_t(p.inputBackward.size()) != p.inputs ||
      int64_t(p.outputAxes.size()) != p.outputs ||
      int64_t(p.outputBackward.size()) != p.outputs)
    return absl::InvalidArgumentError("there must be one axis and one "
                                      "direction for every scan input, output");
  p.trips = -1;
  for (int64_t n = 0; n < p.inputs; ++n) {
    const Dims &dims = shapes[p.states + n];
    NPU_ASSIGN(p.inputAxes[n], axisOf(p.inputAxes[n], dims.size()));
    int64_t size = dims[p.inputAxes[n]];
    if (p.trips >= 0 && p.trips != size)
      return absl::InvalidArgumentError("the scan inputs differ in length");
    p.trips = size;
  }
  if (p.trips > kMostTrips)
    return absl::UnimplementedError(absl::StrCat("it runs for ", p.trips,
                                                 " trips; at most ", kMostTrips,
                                                 " are unrolled"));
  return p;
}

/// Final states, then scan outputs.
absl::StatusOr<std::vector<Entry>> unrollScan(Importer &im, Compose &c,
                                              const Node &node,
                                              const std::vector<Entry> &in,
                                              const std::string &suffix) {
  std::vector<Dims> shapes;
  for (const Entry &e : in)
    shapes.push_back(c.dims(e));
  NPU_ASSIGN(ScanPlan p, planScan(node, shapes));
  std::vector<Entry> states(in.begin(), in.begin() + p.states);
  std::vector<std::vector<Entry>> scanned(p.outputs);
  for (int64_t t = 0; t < p.trips; ++t) {
    std::vector<Entry> arguments = states;
    for (int64_t n = 0; n < p.inputs; ++n) {
      int64_t at = p.inputBackward[n] ? p.trips - 1 - t : t;
      Dims dims = shapes[p.states + n];
      dims.erase(dims.begin() + p.inputAxes[n]);
      arguments.push_back(
          c.reshape(c.slice(in[p.states + n], p.inputAxes[n], at, 1), dims));
    }
    if (!c.status().ok())
      return c.status();
    NPU_ASSIGN(std::vector<Entry> results,
               im.importBody(*p.body, arguments, absl::StrCat(suffix, "#", t)));
    states.assign(results.begin(), results.begin() + p.states);
    for (int64_t n = 0; n < p.outputs; ++n)
      scanned[n].push_back(results[p.states + n]);
  }
  for (int64_t n = 0; n < p.outputs; ++n) {
    int64_t rank = int64_t(c.dims(scanned[n][0]).size()) + 1;
    NPU_ASSIGN(int64_t axis, axisOf(p.outputAxes[n], rank));
    states.push_back(stacked(c, scanned[n], axis, p.outputBackward[n]));
  }
  return states;
}

absl::Status scan(Importer &im, const Node &node) {
  Compose c(im);
  std::vector<Entry> in, out;
  int first = node.opset < 9; // sequence_lens before the states
  if (first && node.has(0))
    return im.unsupported("sequence_lens; export with opset 9 or newer");
  for (int n = first; n < node.inputs(); ++n) {
    in.push_back(im.entry(node, n));
    if (!in.back())
      return absl::InvalidArgumentError(
          absl::StrCat("input ", n, " is missing"));
  }
  if (!first) {
    NPU_ASSIGN(out, unrollScan(im, c, node, in, ""));
  } else { // every input and output has the batch in front
    std::vector<std::vector<Entry>> parts;
    int64_t batch = in.empty() || c.dims(in[0]).empty() ? 0 : c.dims(in[0])[0];
    for (int64_t b = 0; b < batch; ++b) {
      std::vector<Entry> one;
      for (const Entry &e : in) {
        Dims dims = c.dims(e);
        if (dims.empty() || dims[0] != batch)
          return absl::InvalidArgumentError("the inputs differ in batch size");
        dims.erase(dims.begin());
        one.push_back(c.reshape(c.slice(e, 0, b, 1), dims));
      }
      NPU_ASSIGN(one, unrollScan(im, c, node, one, absl::StrCat("#", b)));
      parts.resize(one.size());
      for (size_t n = 0; n < one.size(); ++n)
        parts[n].push_back(one[n]);
    }
    for (std::vector<Entry> &all : parts)
      out.push_back(stacked(c, all, 0, false));
  }
  for (size_t n = 0; n < out.size(); ++n)
    (void)c.bind(node, int(n), out[n]);
  return c.status();
}

} // namespace

void registerControlOps(Registry &r) {
  auto body = [](Handler handler) {
    return OpImport(handler).on(Engine::None);
  };
  r["If"] = body(if_).constant({0});
  r["Loop"] = body(loop).inputs(0).constant({0, 1}).note(
      "unrolled: at most 1024 trips");
  r["Scan"] = body(scan).inputs(0).note("unrolled: at most 1024 trips");
}

} // namespace npu
