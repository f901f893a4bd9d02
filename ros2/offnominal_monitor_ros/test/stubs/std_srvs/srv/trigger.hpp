// A stub of a message or service of ROS 2, with the same fields.

#ifndef STUBS__STD_SRVS__SRV__TRIGGER_HPP_
#define STUBS__STD_SRVS__SRV__TRIGGER_HPP_

#include <string>

namespace std_srvs::srv
{

struct Trigger
{
  struct Request {};
  struct Response { bool success = false; std::string message; };
};

}  // namespace std_srvs::srv

#endif  // STUBS__STD_SRVS__SRV__TRIGGER_HPP_
