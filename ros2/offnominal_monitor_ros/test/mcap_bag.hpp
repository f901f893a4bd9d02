// Reads the messages of an MCAP file that is not compressed, as `ros2 bag record` writes one without compression.

#ifndef MCAP_BAG_HPP_
#define MCAP_BAG_HPP_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

/// A message of a topic.
struct Recorded
{
  std::int64_t time;
  std::string topic;
  std::vector<std::uint8_t> bytes;
};

/// All messages in the order of their time, and the type of each topic.
class Bag
{
public:
  explicit Bag(const std::string & path)
  {
    std::ifstream file(path, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (all.size() < 2 * MAGIC || all.compare(1, 4, "MCAP") != 0) {
      throw std::runtime_error(path + ": expected an MCAP file");
    }
    records(all.substr(MAGIC, all.size() - 2 * MAGIC));
    const auto is_earlier = [](const Recorded & a, const Recorded & b) {return a.time < b.time;};
    std::stable_sort(messages.begin(), messages.end(), is_earlier);
  }

  std::vector<Recorded> messages;
  std::map<std::string, std::string> types;

private:
  static constexpr std::size_t MAGIC = 8;

  /// A place in bytes from which values are taken one by one.
  struct Cursor
  {
    const std::string & bytes;
    std::size_t at;

    template<class T>
    T number()
    {
      T found;
      std::memcpy(&found, bytes.data() + at, sizeof found);
      at += sizeof found;
      return found;
    }

    std::string text()
    {
      const auto size = number<std::uint32_t>();
      at += size;
      return bytes.substr(at - size, size);
    }
  };

  void records(const std::string & bytes)
  {
    for (Cursor from{bytes, 0}; from.at < bytes.size(); ) {
      const auto kind = from.number<std::uint8_t>();
      const auto size = from.number<std::uint64_t>();
      record(kind, bytes.substr(from.at, size));
      from.at += size;
    }
  }

  void record(std::uint8_t kind, const std::string & body)
  {
    Cursor from{body, 0};
    if (kind == 3) {
      const auto schema = from.number<std::uint16_t>();
      names_[schema] = from.text();
    } else if (kind == 4) {
      const auto channel = from.number<std::uint16_t>();
      const auto schema = from.number<std::uint16_t>();
      topics_[channel] = from.text();
      types[topics_[channel]] = names_[schema];
    } else if (kind == 5) {
      const auto channel = from.number<std::uint16_t>();
      from.number<std::uint32_t>();
      const auto time = static_cast<std::int64_t>(from.number<std::uint64_t>());
      from.number<std::uint64_t>();
      messages.push_back({time, topics_[channel], {body.begin() + static_cast<long>(from.at), body.end()}});
    } else if (kind == 6) {
      from.at = 8 + 8 + 8 + 4;
      if (!from.text().empty()) {
        throw std::runtime_error("expected a bag without compression");
      }
      from.number<std::uint64_t>();
      records(body.substr(from.at));
    }
  }

  std::map<std::uint16_t, std::string> names_, topics_;
};

#endif  // MCAP_BAG_HPP_
