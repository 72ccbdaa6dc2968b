#include "runtime/blob/blob.h"

#include <cstdlib>
#include <fstream>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <gtest/gtest.h>

#include "runtime/blob/format.h"
#include "runtime/blob/testing.h"

namespace npu::rt {
namespace {

using testing::addProgram;

std::string message(const std::string &bytes) {
  auto blob = Blob::parse(bytes, "a.npub");
  return blob.ok() ? "" : std::string(blob.status().message());
}

/// Puts the checksums right after a change, so that what is behind them is
/// tested.
std::string resealed(std::string bytes) {
  FileHeader h;
  std::memcpy(&h, bytes.data(), sizeof(h));
  h.content_checksum =
      XXH3_64bits(bytes.data() + sizeof(h), bytes.size() - sizeof(h));
  h.header_checksum = XXH3_64bits(&h, offsetof(FileHeader, header_checksum));
  std::memcpy(bytes.data(), &h, sizeof(h));
  return bytes;
}

TEST(Blob, RoundTrip) {
  auto blob = Blob::parse(writeBlob(addProgram()), "a.npub");
  ASSERT_TRUE(blob.ok()) << blob.status();
  const Blob &b = **blob;
  EXPECT_EQ(b.numCommands(), 2);
  EXPECT_EQ(b.commands()[1].opcode, Opcode::kBinary);
  EXPECT_EQ(typeText(b.inputs()[0]), "f32 [1,8]");
  EXPECT_EQ(b.layers()[1], "add");
  EXPECT_EQ(b.taps()[0].name, "abs_out");
  EXPECT_EQ(b.info("mode"), "fp32");
  EXPECT_EQ(b.info("nothing"), "");
  EXPECT_EQ(b.sizes().dram, 32);
  EXPECT_EQ(b.declarations()[0].dims, std::vector<int64_t>{8});
}

TEST(Blob, EqualContentsAreEqualBytes) {
  EXPECT_EQ(writeBlob(addProgram()), writeBlob(addProgram()));
}

TEST(Blob, HostSegments) {
  auto blob = Blob::parse(writeBlob(testing::hostProgram("model")), "a.npub");
  ASSERT_TRUE(blob.ok()) << blob.status();
  ASSERT_EQ((*blob)->hostCalls().size(), 1u);
  const HostCall &call = (*blob)->hostCalls()[0];
  EXPECT_EQ(call.before, 1);
  EXPECT_EQ(call.model, "model");
  EXPECT_EQ(call.outputs[0].offset, 32);
  EXPECT_EQ(call.nodes[0].fix, "use another");
}

/// Old readers know major version 1 only and must not run such a blob; the
/// others they can go on to read.
TEST(Blob, HostSegmentsHaveAMajorVersionOfTheirOwn) {
  EXPECT_EQ(writeBlob(addProgram())[4], 1);
  EXPECT_EQ(writeBlob(testing::hostProgram("m"))[4], 2);
}

TEST(Blob, WrongHostSegmentsAreRefused) {
  auto changed = [](auto change) {
    BlobContents c = testing::hostProgram("model");
    change(c);
    return message(writeBlob(c));
  };
  auto has = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(changed([](auto &c) { c.hostCalls[0].before = 3; }),
      "host segment 0: runs before command 3");
  has(changed([](auto &c) { c.hostCalls[0].inputs[0].offset = 48; }),
      "bytes 48 to 80");
  has(changed([](auto &c) { c.hostCalls[0].inputs[0].offset = 2; }),
      "not aligned");
  has(changed([](auto &c) { c.hostCalls[0].outputs[0].offset = 16; }),
      "overlaps");
  has(changed([](auto &c) { c.hostCalls[0].outputs[0].dims[0] = -1; }),
      "impossible dimension");
  has(changed([](auto &c) { c.hostCalls[0].outputs[0].rank = 0; }), "rank 0");
  has(changed([](auto &c) { c.hostCalls[0].inputs[0].space = Space::kConst; }),
      "neither in the arena");
  has(changed([](auto &c) {
        c.hostCalls[0].outputs[0].space = Space::kIo;
        c.hostCalls[0].outputs[0].offset = 0;
      }),
      "input of the program");
  has(changed([](auto &c) {
        c.hostCalls[0].inputs[0].dtype = static_cast<DType>(77);
      }),
      "unknown element type 77");
}

TEST(Blob, OpensAFile) {
  std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/a.npub";
  std::ofstream(path) << writeBlob(addProgram());
  EXPECT_TRUE(Blob::open(path).ok());
  std::ofstream(path, std::ios::trunc) << "";
  EXPECT_FALSE(Blob::open(path).ok());
  EXPECT_EQ(Blob::open("/nowhere/a.npub").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_FALSE(Blob::open("/").ok());
}

TEST(Blob, EveryPrefixIsRefused) {
  std::string bytes = writeBlob(addProgram());
  for (size_t n = 0; n < bytes.size(); ++n)
    ASSERT_NE(message(bytes.substr(0, n)), "") << n;
}

TEST(Blob, EveryChangedByteIsRefused) {
  std::string bytes = writeBlob(addProgram());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] ^= 1 << i % 8;
    ASSERT_NE(message(bad), "") << i;
  }
}

TEST(Blob, AppendedBytesAreRefused) {
  EXPECT_NE(message(writeBlob(addProgram()) + "x"), "");
}

TEST(Blob, NewerFormatSaysSo) {
  std::string bytes = writeBlob(addProgram());
  FileHeader h;
  std::memcpy(&h, bytes.data(), sizeof(h));
  h.major = kFormatMajorHost + 1;
  std::memcpy(bytes.data(), &h, sizeof(h));
  EXPECT_NE(message(resealed(bytes)).find("update the runtime"),
            std::string::npos);
}

TEST(Blob, OtherFilesAreNotBlobs) {
  EXPECT_NE(message(std::string(200, 'x')).find("not a blob"),
            std::string::npos);
}

/// Behind right checksums any damage is found, or does no harm.
TEST(Blob, DamageBehindRightChecksumsIsSafe) {
  std::string bytes = writeBlob(addProgram());
  int refused = 0;
  for (size_t i = sizeof(FileHeader); i < bytes.size(); ++i)
    for (uint8_t flip : {0x01, 0x80, 0xff}) {
      std::string bad = bytes;
      bad[i] ^= flip;
      refused += message(resealed(bad)) != "";
    }
  EXPECT_GT(refused, 500);
}

TEST(Blob, CommandsAreVerified) {
  BlobContents c = addProgram();
  c.commands[1].operands[0].offset = 4; // one element past the output's end
  EXPECT_NE(message(writeBlob(c)).find("command 1"), std::string::npos);
  c = addProgram();
  c.commands[1].engine = Engine::kMatrix; // reads what nothing waited for
  EXPECT_NE(message(writeBlob(c)), "");
  c.commands[1].num_waits = 1;
  c.commands[1].waits[0] = {queueIndex(0, Engine::kVector), 0, 1};
  EXPECT_EQ(message(writeBlob(c)), "");
  c = addProgram();
  c.commands[0].layer = 2;
  EXPECT_NE(message(writeBlob(c)), "");
  c = addProgram();
  c.taps[0].command = 2;
  EXPECT_NE(message(writeBlob(c)), "");
  c = addProgram();
  c.dramBytes = 16;
  EXPECT_NE(message(writeBlob(c)), "");
  c = addProgram();
  c.declarations[0].dims = {9};
  EXPECT_NE(message(writeBlob(c)), "");
  c = addProgram();
  c.commands[0].operands[0] = testing::operand(Space::kIo, 0, 0, 8);
  EXPECT_NE(message(writeBlob(c)), "") << "writes an input";
}

} // namespace
} // namespace npu::rt
