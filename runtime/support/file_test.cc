#include "runtime/support/file.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace npu::rt;
using testing::HasSubstr;

static std::string scratch(const std::string &name) {
  std::string folder = testing::TempDir() + "/file_test";
  std::filesystem::create_directories(folder);
  return folder + "/" + name;
}

TEST(File, RoundTrip) {
  std::string path = scratch("a.bin"), bytes("x\0y", 3);
  ASSERT_TRUE(writeFileAtomically(path, bytes).ok());
  EXPECT_EQ(*readFile(path), bytes);
}

TEST(File, FailedWriteLeavesNothing) {
  std::string path = scratch("no/such/folder/a.bin");
  absl::Status status = writeFileAtomically(path, "x");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(File, ReadErrorsNameThePath) {
  EXPECT_THAT(std::string(readFile("/no/such").status().message()),
              HasSubstr("/no/such"));
  EXPECT_THAT(std::string(readFile("/").status().message()),
              HasSubstr("not a regular file"));
}

TEST(File, ListIsFilteredAndSorted) {
  std::string folder = scratch("list");
  std::filesystem::create_directories(folder + "/sub.jpg");
  for (const char *name : {"b.JPG", "a.jpg", "c.txt"})
    std::ofstream(folder + "/" + name) << "x";
  auto files = listFiles(folder, {".jpg"});
  ASSERT_TRUE(files.ok());
  EXPECT_THAT(*files,
              testing::ElementsAre(folder + "/a.jpg", folder + "/b.JPG"));
  EXPECT_FALSE(listFiles(scratch("absent"), {".jpg"}).ok());
}
