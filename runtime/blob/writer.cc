#include "runtime/blob/writer.h"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/blob/blob_generated.h"
#include "runtime/blob/format.h"

namespace npu::rt {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

Offset<flatbuffers::Vector<Offset<fb::Tensor>>>
tensors(FlatBufferBuilder &b, const std::vector<TensorInfo> &list) {
  std::vector<Offset<fb::Tensor>> out;
  for (const TensorInfo &t : list)
    out.push_back(fb::CreateTensor(
        b, b.CreateString(t.name), static_cast<uint8_t>(t.dtype),
        b.CreateVector(t.shape),
        t.preprocess.empty() ? 0 : b.CreateString(t.preprocess)));
  return b.CreateVector(out);
}

std::vector<fb::Patch> patches(const std::vector<Command> &commands) {
  std::vector<fb::Patch> list;
  for (size_t i = 0; i < commands.size(); ++i)
    for (int o = 0; o < kMaxOperands; ++o) {
      const Operand &operand = commands[i].operands[o];
      if (operand.rank && operand.space == Space::kIo)
        list.emplace_back(static_cast<uint32_t>(i), static_cast<uint8_t>(o),
                          operand.io);
    }
  return list;
}

Offset<flatbuffers::Vector<Offset<fb::HostTensor>>>
hostTensors(FlatBufferBuilder &b, const std::vector<Operand> &list) {
  std::vector<Offset<fb::HostTensor>> out;
  for (const Operand &o : list)
    out.push_back(fb::CreateHostTensor(
        b, static_cast<uint8_t>(o.space), o.io, static_cast<uint8_t>(o.dtype),
        o.offset,
        b.CreateVector(std::vector<int32_t>(o.dims, o.dims + o.rank))));
  return b.CreateVector(out);
}

/// `models`: where they are. Null if there are no host segments, so that such
/// a blob is the same as before there were any.
Offset<flatbuffers::Vector<Offset<fb::HostCall>>>
hostCalls(FlatBufferBuilder &b, const BlobContents &c,
          const std::vector<fb::Section> &models) {
  std::vector<Offset<fb::HostCall>> out;
  for (size_t i = 0; i < c.hostCalls.size(); ++i) {
    const HostCall &call = c.hostCalls[i];
    std::vector<Offset<fb::HostNode>> nodes;
    for (const HostNode &n : call.nodes)
      nodes.push_back(fb::CreateHostNode(
          b, b.CreateString(n.name), b.CreateString(n.op),
          b.CreateString(n.reason), b.CreateString(n.fix), n.macs, n.bytes));
    auto inputs = hostTensors(b, call.inputs);
    auto outputs = hostTensors(b, call.outputs);
    out.push_back(fb::CreateHostCall(b, call.before, &models[i], inputs,
                                     outputs, b.CreateVector(nodes)));
  }
  return out.empty() ? 0 : b.CreateVector(out);
}

std::string metadata(const BlobContents &c, const fb::Section &commands,
                     const fb::Section &constants,
                     const std::vector<fb::Section> &models) {
  FlatBufferBuilder b(1 << 16);
  std::vector<Offset<fb::Tap>> taps;
  for (const Blob::Tap &t : c.taps)
    taps.push_back(fb::CreateTap(b, b.CreateString(t.name), t.command));
  std::vector<Offset<fb::Constant>> declarations;
  for (const Blob::Declaration &d : c.declarations)
    declarations.push_back(fb::CreateConstant(
        b, d.offset, static_cast<uint8_t>(d.dtype),
        b.CreateVector(std::vector<int32_t>(d.dims.begin(), d.dims.end()))));
  std::vector<Offset<fb::Info>> info;
  for (const auto &[key, value] : c.info)
    info.push_back(
        fb::CreateInfo(b, b.CreateString(key), b.CreateString(value)));
  auto name = b.CreateString(c.name);
  auto inputs = tensors(b, c.inputs), outputs = tensors(b, c.outputs);
  auto layers = b.CreateVectorOfStrings(c.layers);
  auto tapList = b.CreateVector(taps);
  auto patchList = b.CreateVectorOfStructs(patches(c.commands));
  auto declarationList = b.CreateVector(declarations);
  auto infoList = b.CreateVector(info);
  auto hostList = hostCalls(b, c, models);
  b.Finish(fb::CreateProgram(b, name, inputs, outputs, c.cores, c.sramBytes,
                             c.dramBytes, &commands, &constants, layers,
                             tapList, patchList, declarationList, infoList,
                             hostList));
  return {reinterpret_cast<const char *>(b.GetBufferPointer()), b.GetSize()};
}

} // namespace

std::string writeBlob(const BlobContents &c) {
  // Sizes of structs don't depend on their values: the first pass gives the
  // metadata's size, the second fills in where the sections are.
  int64_t commandBytes = c.commands.size() * sizeof(Command);
  std::vector<fb::Section> models(c.models.size());
  int64_t metadataSize = metadata(c, {0, 0}, {0, 0}, models).size();
  int64_t commandsAt = alignUp(sizeof(FileHeader) + metadataSize);
  int64_t constantsAt = alignUp(commandsAt + commandBytes);
  int64_t end = constantsAt + c.constants.size();
  for (size_t i = 0; i < models.size(); ++i) {
    int64_t at = alignUp(end);
    models[i] = fb::Section(at, c.models[i].size());
    end = at + c.models[i].size();
  }
  std::string meta =
      metadata(c, fb::Section(commandsAt, commandBytes),
               fb::Section(constantsAt, c.constants.size()), models);
  std::string bytes(end, '\0');
  std::memcpy(&bytes[sizeof(FileHeader)], meta.data(), meta.size());
  if (commandBytes)
    std::memcpy(&bytes[commandsAt], c.commands.data(), commandBytes);
  std::memcpy(&bytes[constantsAt], c.constants.data(), c.constants.size());
  for (size_t i = 0; i < models.size(); ++i)
    std::memcpy(&bytes[models[i].offset()], c.models[i].data(),
                c.models[i].size());

  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.major = c.hostCalls.empty() ? kFormatMajor : kFormatMajorHost;
  header.minor = kFormatMinor;
  header.file_size = bytes.size();
  header.metadata_size = meta.size();
  header.content_checksum = XXH3_64bits(bytes.data() + sizeof(FileHeader),
                                        bytes.size() - sizeof(FileHeader));
  header.header_checksum =
      XXH3_64bits(&header, offsetof(FileHeader, header_checksum));
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

} // namespace npu::rt
