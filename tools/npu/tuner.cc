#include "tools/npu/tuner.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tools/npu/bias_correction.h"

namespace npu {
namespace {

/// Layers are ranked on so many samples: many quick trials.
constexpr size_t kQuick = 4;
/// A ranking starts with so many pieces of the model, and does not halve what
/// has this many layers.
constexpr size_t kPieces = 8, kSmallest = 2;
/// Trials that find the layers of a mixed build.
constexpr int kRankTrials = 32;
/// How many methods are also tried with channels split, and into how many
/// groups at most.
constexpr int kSplitTrials = 2, kSplitGroups = 4;
/// The percentiles that are tried besides the one asked for.
constexpr double kPercentiles[] = {99.9, 99.99, 99.999};
/// Outputs this similar need no correction of biases, which is measured on so
/// many samples and tried for so many of the best trials.
constexpr double kGood = 0.995;
constexpr size_t kCorrectionSamples = 16, kCorrected = 4;

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
  bool whole = false; ///< not to be halved
};

} // namespace

bool isProbabilities(const std::vector<float> &values) {
  double sum = 0;
  for (float v : values) {
    if (!(v >= 0))
      return false;
    sum += v;
  }
  return values.size() > 1 && std::fabs(sum - 1) <= 1e-3;
}

void toLogits(std::vector<float> &values) {
  double mean = 0;
  for (float &v : values)
    mean += v = std::log(std::max(v, 1e-12f));
  for (float &v : values)
    v -= float(mean / values.size());
}

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
  tuner->logits_.assign(count, !tuner->expected_.empty());
  for (auto &outputs : tuner->expected_)
    for (size_t o = 0; o < count; ++o)
      tuner->logits_[o] = tuner->logits_[o] && isProbabilities(outputs[o]);
  for (auto &outputs : tuner->expected_)
    for (size_t o = 0; o < count; ++o)
      if (tuner->logits_[o])
        toLogits(outputs[o]);
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
      if (logits_[o])
        toLogits((*outputs)[o]);
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

/// The best first; the earlier of equals.
static Tuner::Trials ranked(const Tuner::Trials &trials) {
  std::vector<size_t> order(trials.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    double x = trials[a].second.cosine, y = trials[b].second.cosine;
    return x != y ? x > y : a < b;
  });
  Tuner::Trials sorted;
  for (size_t i : order)
    sorted.push_back(trials[i]);
  return sorted;
}

absl::Status Tuner::attempt(const QuantizeRequest &request, Trials *trials) {
  auto c = measure(request);
  if (!c.ok())
    return c.status();
  trials->push_back({request,
                     {request.method, request.percentile, request.splitChannels,
                      !request.biasShifts.empty(), *c}});
  return absl::OkStatus();
}

absl::Status Tuner::attemptMethods(const QuantizeRequest &request,
                                   const Step &step, Trials *trials) {
  std::vector<QuantizeRequest> open;
  auto add = [&](const std::string &method, double percentile) {
    open.push_back(request);
    open.back().method = method;
    open.back().percentile = percentile;
  };
  for (const char *method : {"minmax", "mse", "entropy"})
    add(method, request.percentile);
  std::set<double> percentiles(std::begin(kPercentiles),
                               std::end(kPercentiles));
  percentiles.insert(request.percentile);
  for (double percentile : percentiles)
    add("percentile", percentile);
  int64_t total = open.size() + kSplitTrials;
  auto attemptAll = [&]() -> absl::Status {
    for (const QuantizeRequest &one : open) {
      if (absl::Status s = attempt(one, trials); !s.ok())
        return s;
      if (step)
        step(trials->size(), total);
    }
    return absl::OkStatus();
  };
  if (absl::Status s = attemptAll(); !s.ok())
    return s;
  // Splitting helps some networks and harms others: the best methods show.
  open.clear();
  Trials whole = ranked(*trials);
  for (int i = 0; i < kSplitTrials; ++i) {
    open.push_back(whole[i].first);
    open.back().splitChannels = kSplitGroups;
  }
  return attemptAll();
}

absl::Status Tuner::attemptCorrected(const Step &step, Trials *trials) {
  Trials best = ranked(*trials);
  std::set<double> seen; // requests that came to the same program
  int64_t done = 0;
  for (auto &[request, trial] : best) {
    if (seen.size() == kCorrected)
      break;
    if (!seen.insert(trial.cosine).second)
      continue;
    auto shifts =
        measureBiasShifts(compiler_, request, samples_, kCorrectionSamples,
                          [&](int64_t level, int64_t levels) {
                            if (step)
                              step(done * levels + level, kCorrected * levels);
                          });
    if (!shifts.ok())
      return shifts.status();
    ++done;
    request.biasShifts = *std::move(shifts);
    if (request.biasShifts.empty())
      return absl::OkStatus();
    if (absl::Status s = attempt(request, trials); !s.ok())
      return s;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Trial>> Tuner::settle(QuantizeRequest *request,
                                                 const Step &step) {
  Trials trials;
  absl::Status s = request->method == "auto"
                       ? attemptMethods(*request, step, &trials)
                       : attempt(*request, &trials);
  if (s.ok() && request->biasCorrection &&
      ranked(trials)[0].second.cosine < kGood)
    s = attemptCorrected(step, &trials);
  if (!s.ok())
    return s;
  *request = ranked(trials)[0].first;
  std::vector<Trial> list;
  for (auto &[tried, trial] : trials)
    list.push_back(trial);
  return list;
}

absl::StatusOr<std::vector<FloatLayers>>
Tuner::rank(const QuantizeRequest &request, int trials, const Step &step) {
  const std::vector<std::string> layers = compiler_.layers();
  int done = 0;
  auto tried = [&](size_t begin, size_t end) -> absl::StatusOr<Piece> {
    QuantizeRequest one = request;
    one.keepFloat.insert(one.keepFloat.end(), layers.begin() + begin,
                         layers.begin() + end);
    auto c = measure(one, kQuick);
    if (!c.ok())
      return c.status();
    if (step)
      step(++done, trials);
    return Piece{begin, end, *c};
  };
  auto base = tried(0, 0);
  if (!base.ok())
    return base.status();
  std::vector<Piece> pieces;
  size_t count = std::min(kPieces, layers.size());
  for (size_t i = 0; i < count; ++i) {
    auto piece =
        tried(i * layers.size() / count, (i + 1) * layers.size() / count);
    if (!piece.ok())
      return piece.status();
    pieces.push_back(*piece);
  }
  while (done + 2 <= trials) {
    Piece *costliest = nullptr;
    for (Piece &piece : pieces)
      if (!piece.whole && piece.end - piece.begin > kSmallest &&
          (!costliest || piece.cosine > costliest->cosine))
        costliest = &piece;
    if (!costliest)
      break;
    size_t middle = (costliest->begin + costliest->end) / 2;
    auto a = tried(costliest->begin, middle);
    auto b = a.ok() ? tried(middle, costliest->end) : a;
    if (!b.ok())
      return b.status();
    // Neither does much alone: it takes both.
    double gain = costliest->cosine - base->cosine;
    costliest->whole = std::max(a->cosine, b->cosine) - base->cosine < gain / 2;
    if (costliest->whole)
      continue;
    *costliest = *a;
    pieces.push_back(*b);
  }
  // Ties in the order of the model.
  std::sort(pieces.begin(), pieces.end(), [](const Piece &a, const Piece &b) {
    return a.cosine != b.cosine ? a.cosine > b.cosine : a.begin < b.begin;
  });
  std::vector<FloatLayers> ranked;
  for (const Piece &piece : pieces)
    ranked.push_back(
        {{layers.begin() + piece.begin, layers.begin() + piece.end},
         piece.cosine});
  return ranked;
}

absl::StatusOr<double> Tuner::measureWith(const QuantizeRequest &request,
                                          const std::vector<FloatLayers> &kept,
                                          QuantizeRequest *with) {
  *with = request;
  for (const FloatLayers &piece : kept)
    with->keepFloat.insert(with->keepFloat.end(), piece.nodes.begin(),
                           piece.nodes.end());
  return measure(*with);
}

absl::StatusOr<std::vector<FloatLayers>>
Tuner::reach(double goal, QuantizeRequest *request, const Step &step) {
  std::vector<FloatLayers> kept;
  QuantizeRequest with;
  auto now = measureWith(*request, kept, &with);
  if (!now.ok() || *now >= goal)
    return now.ok() ? absl::StatusOr<std::vector<FloatLayers>>(kept)
                    : now.status();
  auto ranked = rank(*request, kRankTrials, step);
  if (!ranked.ok())
    return ranked.status();
  for (size_t i = 0; i < ranked->size() && *now < goal; ++i) {
    kept.push_back((*ranked)[i]);
    if (now = measureWith(*request, kept, &with); !now.ok())
      return now.status();
    kept.back().cosine = *now;
  }
  // What the later ones made unnecessary goes back to INT8.
  for (size_t i = kept.size(); *now >= goal && i-- > 0;) {
    std::vector<FloatLayers> fewer = kept;
    fewer.erase(fewer.begin() + i);
    auto c = measureWith(*request, fewer, &with);
    if (!c.ok())
      return c.status();
    if (*c < goal)
      continue;
    kept = std::move(fewer);
    if (!kept.empty())
      kept.back().cosine = *c;
  }
  auto last = measureWith(*request, kept, &with);
  if (!last.ok())
    return last.status();
  *request = with;
  return kept;
}

} // namespace npu
