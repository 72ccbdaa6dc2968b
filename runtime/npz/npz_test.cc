#include "runtime/npz/npz.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "runtime/support/file.h"

namespace npu::rt {
namespace {

std::string temporary(const std::string &name) {
  return std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
}

Array floats(std::string name, std::vector<int64_t> shape,
             std::vector<float> values) {
  return {
      std::move(name), DType::kF32, std::move(shape),
      std::string(reinterpret_cast<char *>(values.data()), values.size() * 4)};
}

/// Python with NumPy, where it is there, is the reference.
bool python(const std::string &code) {
  return std::system(("/usr/bin/python3 -c \"import numpy as np\n" + code +
                      "\" 2>/dev/null")
                         .c_str()) == 0;
}

TEST(Npz, RoundTrip) {
  std::string path = temporary("a.npz");
  std::vector<Array> arrays = {
      floats("x", {2, 3}, {1, 2, 3, 4, 5, 6}),
      {"label", DType::kI64, {1}, std::string("\7\0\0\0\0\0\0\0", 8)},
      {"scalar", DType::kU8, {}, std::string(1, 9)}};
  ASSERT_TRUE(writeArrays(path, arrays).ok());
  auto read = readArrays(path);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*read)[i].name, arrays[i].name);
    EXPECT_EQ((*read)[i].shape, arrays[i].shape);
    EXPECT_EQ((*read)[i].bytes, arrays[i].bytes);
  }
  EXPECT_EQ((*read)[1].floats(), std::vector<float>{7});
}

TEST(Npz, ReadsWhatNumPyWrites) {
  std::string path = temporary("n.npz");
  if (!python("np.savez_compressed('" + path +
              "', f=np.asfortranarray(np.arange(6).reshape(2,3)), "
              "h=np.array([0.5,-2],'f2'), d=np.array([[1.5]]), "
              "u=np.array([65535],'u2'))"))
    GTEST_SKIP() << "python3-numpy is not installed";
  auto read = readArrays(path);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 4u);
  EXPECT_EQ((*read)[0].floats(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ((*read)[1].floats(), (std::vector<float>{0.5, -2}));
  EXPECT_EQ((*read)[2].dtype, DType::kF64);
  EXPECT_EQ((*read)[2].floats(), std::vector<float>{1.5});
  EXPECT_EQ((*read)[3].dtype, DType::kU16);
  EXPECT_EQ((*read)[3].floats(), std::vector<float>{65535});
}

TEST(Npz, NumPyReadsWhatWeWrite) {
  std::string path = temporary("w.npz");
  ASSERT_TRUE(writeArrays(path, {floats("a", {3}, {1, 2, 4})}).ok());
  if (!python("pass"))
    GTEST_SKIP() << "python3-numpy is not installed";
  EXPECT_TRUE(python("a=np.load('" + path +
                     "')['a']\nassert a.tolist()==[1,2,4] and a.dtype=='f4'"));
}

TEST(Npy, RowKeepsTheRank) {
  Array row = floats("x", {2, 3}, {1, 2, 3, 4, 5, 6}).row(1);
  EXPECT_EQ(row.shape, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(row.floats(), (std::vector<float>{4, 5, 6}));
}

TEST(Npy, DamageIsAnErrorNeverACrash) {
  std::string npy = toNpy(floats("", {2, 3}, {1, 2, 3, 4, 5, 6}));
  for (size_t n = 0; n < npy.size(); ++n)
    EXPECT_FALSE(parseNpy(npy.substr(0, n), "cut").ok()) << n;
  for (size_t i = 0; i < 128; ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = npy;
      bad[i] ^= 1 << bit;
      (void)parseNpy(bad, "flipped");
    }
  std::string big = npy;
  big.replace(big.find("(2, 3)"), 6, "(9e9,)");
  EXPECT_FALSE(parseNpy(big, "big").ok());
}

TEST(Npz, DamageIsAnErrorNeverACrash) {
  std::string path = temporary("d.npz");
  ASSERT_TRUE(writeArrays(path, {floats("a", {3}, {1, 2, 4})}).ok());
  std::string good = *readFile(path);
  int refused = 0;
  for (size_t n = 0; n < good.size(); ++n) {
    ASSERT_TRUE(writeFileAtomically(path, good.substr(0, n)).ok());
    EXPECT_FALSE(readArrays(path).ok()) << n;
    std::string bad = good;
    bad[n] ^= 0x55;
    ASSERT_TRUE(writeFileAtomically(path, bad).ok());
    refused += !readArrays(path).ok();
  }
  EXPECT_GT(refused, 100);
}

TEST(Npz, ErrorsNameTheFile) {
  auto missing = readArrays("/nowhere/x.npz");
  EXPECT_NE(missing.status().message().find("/nowhere/x.npz"),
            absl::string_view::npos);
  EXPECT_FALSE(writeArrays(temporary("x.txt"), {}).ok());
}

} // namespace
} // namespace npu::rt
