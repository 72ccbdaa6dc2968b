#include "tools/npu/tuner.h"

#include <algorithm>
#include <cmath>

namespace npu {
namespace {

/// Layers are ranked on so many samples: many quick trials.
constexpr size_t kQuick = 4;
/// A ranking starts with so many pieces of the model, and does not halve what
/// has this many layers.
constexpr size_t kPieces = 8, kSmallest = 2;
/// Trials that find the layers of a mixed build.
constexpr int kRankTrials = 32;

absl::StatusOr<std::vector<std::vector<float>>>
outputsOf(SessionRunner &runner,
          const std::vector<calibration::InputTensor> &sample, size_t count) {
  if (absl::Status s = runner.run(sample, nullptr); !s.ok())
    return s;
  std::vector<std::vector<float>> outputs;
  for (size_t i = 0; i < count; ++i)
    outputs.push_back(runner.output(i));
  return outputs;
}

/// A run of neighbouring layers.
struct Piece {
  size_t begin, end;
  double cosine = 0;
  size_t size() const { return end - begin; }
};

} // namespace

absl::StatusOr<std::unique_ptr<Tuner>>
Tuner::create(Compiler &compiler, SessionRunner &reference, Samples samples) {
  std::unique_ptr<Tuner> tuner(new Tuner(compiler, std::move(samples)));
  size_t count = reference.outputs();
  for (const auto &sample : tuner->samples_) {
    auto outputs = outputsOf(reference, sample, count);
    if (!outputs.ok())
      return outputs.status();
    tuner->expected_.push_back(*std::move(outputs));
  }
  return tuner;
}

absl::StatusOr<double> Tuner::measure(const QuantizeRequest &request,
                                      size_t limit) {
  auto bytes = compiler_.trialBlob(request);
  if (!bytes.ok())
    return bytes.status();
  auto blob = rt::Blob::parse(*std::move(bytes), "the trial program");
  if (!blob.ok())
    return blob.status();
  rt::DeviceOptions device;
  device.threads = 0;
  auto runner = SessionRunner::create(*blob, device);
  if (!runner.ok())
    return runner.status();
  size_t count = (*blob)->outputs().size();
  std::vector<std::vector<float>> a(count), b(count);
  for (size_t i = 0; i < std::min(limit, samples_.size()); ++i) {
    auto outputs = outputsOf(**runner, samples_[i], count);
    if (!outputs.ok())
      return outputs.status();
    for (size_t o = 0; o < count; ++o) {
      a[o].insert(a[o].end(), (*outputs)[o].begin(), (*outputs)[o].end());
      b[o].insert(b[o].end(), expected_[i][o].begin(), expected_[i][o].end());
    }
  }
  double least = 1;
  for (size_t o = 0; o < count; ++o) {
    double c = cosine(a[o].data(), b[o].data(), a[o].size());
    least = std::isnan(c) ? -1 : std::min(least, c);
    if (std::isnan(c))
      break;
  }
  return least;
}

absl::StatusOr<std::vector<Trial>> Tuner::chooseMethod(QuantizeRequest *request,
                                                       const Step &step) {
  std::vector<Trial> trials;
  size_t best = 0;
  for (const char *method : {"minmax", "percentile", "mse", "entropy"}) {
    request->method = method;
    auto c = measure(*request);
    if (!c.ok())
      return c.status();
    trials.push_back({method, *c});
    if (*c > trials[best].cosine)
      best = trials.size() - 1;
    if (step)
      step(trials.size(), 4);
  }
  request->method = trials[best].method;
  return trials;
}

absl::StatusOr<std::vector<FloatLayers>>
Tuner::rank(const QuantizeRequest &request, int trials, const Step &step) {
  const std::vector<std::string> layers = compiler_.layers();
  auto namesOf = [&](const Piece &piece) {
    return std::vector<std::string>(layers.begin() + piece.begin,
                                    layers.begin() + piece.end);
  };
  int done = 0;
  std::vector<Piece> pieces;
  auto add = [&](size_t begin, size_t end) -> absl::Status {
    Piece piece{begin, end};
    QuantizeRequest one = request;
    for (const std::string &name : namesOf(piece))
      one.keepFloat.push_back(name);
    auto c = measure(one, kQuick);
    if (!c.ok())
      return c.status();
    piece.cosine = *c;
    pieces.push_back(piece);
    if (step)
      step(++done, trials);
    return absl::OkStatus();
  };
  size_t count = std::min(kPieces, layers.size());
  for (size_t i = 0; i < count; ++i)
    if (absl::Status s =
            add(i * layers.size() / count, (i + 1) * layers.size() / count);
        !s.ok())
      return s;
  auto less = [](const Piece &a, const Piece &b) {
    return a.cosine < b.cosine;
  };
  for (int left = trials - int(count); left >= 2; left -= 2) {
    auto halved = [&](const Piece &a, const Piece &b) {
      bool x = a.size() > kSmallest, y = b.size() > kSmallest;
      return x != y ? y : less(a, b);
    };
    auto it = std::max_element(pieces.begin(), pieces.end(), halved);
    if (it == pieces.end() || it->size() <= kSmallest)
      break;
    Piece piece = *it;
    pieces.erase(it);
    size_t middle = piece.begin + piece.size() / 2;
    absl::Status s = add(piece.begin, middle);
    if (s.ok())
      s = add(middle, piece.end);
    if (!s.ok())
      return s;
  }
  // Ties in the order of the model.
  std::sort(pieces.begin(), pieces.end(), [](const Piece &a, const Piece &b) {
    return a.cosine != b.cosine ? a.cosine > b.cosine : a.begin < b.begin;
  });
  std::vector<FloatLayers> ranked;
  for (const Piece &piece : pieces)
    ranked.push_back({namesOf(piece), piece.cosine});
  return ranked;
}

absl::StatusOr<std::vector<FloatLayers>>
Tuner::reach(double goal, QuantizeRequest *request, const Step &step) {
  std::vector<FloatLayers> kept;
  auto now = measure(*request);
  if (!now.ok())
    return now.status();
  if (*now >= goal)
    return kept;
  auto ranked = rank(*request, kRankTrials, step);
  if (!ranked.ok())
    return ranked.status();
  for (FloatLayers &piece : *ranked) {
    for (const std::string &name : piece.nodes)
      request->keepFloat.push_back(name);
    auto c = measure(*request);
    if (!c.ok())
      return c.status();
    kept.push_back({std::move(piece.nodes), *c});
    if (*c >= goal)
      break;
  }
  return kept;
}

} // namespace npu
