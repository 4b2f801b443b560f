/// \file ls.cpp
/// `tutti topic ls` and `info`: which topics there are, and what is known of one.
#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/log.hpp"
#include "cli/terminal.hpp"
#include "cli/topic/reach.hpp"
#include "cli/topic/sample_text.hpp"
#include "cli/topic/verbs.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

struct Counts {
  std::uint64_t readers = 0;
  std::uint64_t writers = 0;
};

std::optional<Counts> counts_of(const TopicRow& row) {
  if (!row.endpoints) return {};
  Counts counts;
  for (const dds::TopicEndpoints& each : *row.endpoints) {
    counts.readers += each.readers;
    counts.writers += each.writers;
  }
  return counts;
}

json to_json(const TopicRow& row) {
  json object = {{"name", row.name},      {"service", row.service}, {"bundle", row.bundle},
                 {"type", row.type.name}, {"readers", nullptr},     {"writers", nullptr}};
  if (const auto counts = counts_of(row)) {
    object["readers"] = counts->readers;
    object["writers"] = counts->writers;
  }
  return object;
}

std::string hash_text(std::uint64_t hash) {
  std::array<std::byte, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(hash >> (56 - 8 * i));
  }
  return hex(bytes);
}

Result<void> print_text(const std::string& text) {
  if (print(text)) return {};
  return fail(ErrorCode::system, "standard output takes no more");
}

std::string line_of_json(const json& object) {
  return object.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
}

Result<void> ls(TopicDomain& domain, bool as_json) {
  const Result<std::vector<TopicRow>> rows = domain.topics();
  if (!rows) return std::unexpected(rows.error());
  std::string text;
  if (as_json) {
    for (const TopicRow& row : *rows) text += line_of_json(to_json(row));
    return print_text(text);
  }
  Table table({"topic", "service", "type", "readers", "writers"});
  for (const TopicRow& row : *rows) {
    const auto counts = counts_of(row);
    table.add({visible(row.name), row.service, visible(row.type.name),
               counts ? grouped(counts->readers) : "-", counts ? grouped(counts->writers) : "-"});
  }
  return print_text(table.text());
}

Result<void> info(TopicDomain& domain, const Reach& reach, const std::string& name) {
  const Result<TopicRow> row = find_topic(domain, reach, name);
  if (!row) return std::unexpected(row.error());
  const Result<SampleText> samples = SampleText::of(row->type);
  if (!samples) return std::unexpected(samples.error());
  const std::string options = row->options ? row->options->to_text() : "";
  if (reach.json) {
    json object = to_json(*row);
    object["options"] = row->options ? json(options) : json(nullptr);
    object["type_hash"] = hash_text(row->type.hash);
    object["fields"] = samples->fields();
    object["endpoints"] = row->endpoints ? json::array() : json(nullptr);
    for (const dds::TopicEndpoints& each :
         row->endpoints.value_or(std::vector<dds::TopicEndpoints>())) {
      object["endpoints"].push_back({{"participant", each.participant},
                                     {"readers", each.readers},
                                     {"writers", each.writers}});
    }
    return print_text(line_of_json(object));
  }
  std::string text =
      "topic    " + row->name + "\nservice  " + row->service + ", in bundle " + row->bundle + "\n";
  if (!options.empty()) text += "options  " + options + "\n";
  text += "type     " + row->type.name + ", hash " + hash_text(row->type.hash) + "\n";
  text += samples->fields();
  if (row->endpoints) {
    Table table({"participant", "readers", "writers"});
    for (const dds::TopicEndpoints& each : *row->endpoints) {
      table.add({each.participant, grouped(each.readers), grouped(each.writers)});
    }
    text += table.text();
  }
  return print_text(visible(text));
}

}  // namespace

void add_topic_ls(CLI::App& topic, int& status) {
  CLI::App* command =
      topic.add_subcommand("ls", "The topics, their services and types, who reads and writes them");
  command->alias("list");
  auto reach = std::make_shared<Reach>();
  add_reach(*command, *reach, "print each topic as a JSON object on a line of its own");
  command->callback([reach, &status] {
    status = in_domain(*reach, [&](TopicDomain& domain) { return ls(domain, reach->json); });
  });
}

void add_topic_info(CLI::App& topic, int& status) {
  CLI::App* command =
      topic.add_subcommand("info", "One topic: its options, the fields of its type, who has it");
  auto reach = std::make_shared<Reach>();
  auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "the topic")->required();
  add_reach(*command, *reach, "print a JSON object");
  command->callback([reach, name, &status] {
    status = in_domain(*reach, [&](TopicDomain& domain) { return info(domain, *reach, *name); });
  });
}

}  // namespace tutti::cli
