// A stub of ament_index_cpp: packages are the folders of one folder.

#ifndef STUBS__AMENT_INDEX_CPP__GET_PACKAGE_SHARE_DIRECTORY_HPP_
#define STUBS__AMENT_INDEX_CPP__GET_PACKAGE_SHARE_DIRECTORY_HPP_

#include <cstdlib>
#include <string>

namespace ament_index_cpp
{

inline std::string get_package_share_directory(const std::string & package)
{
  const char * share = std::getenv("STUBS_SHARE");
  return std::string(share == nullptr ? "share" : share) + "/" + package;
}

}  // namespace ament_index_cpp

#endif  // STUBS__AMENT_INDEX_CPP__GET_PACKAGE_SHARE_DIRECTORY_HPP_
