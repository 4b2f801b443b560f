/* A member of a group of three, in C: run it three times, with the arguments a, b and c. Each sends
 * one line; all print the same three lines in the same order. */
#include <inttypes.h>
#include <stdio.h>

#include "tutti/tutti.h"

static void print(const tutti_message_t* messages, size_t count, void* user) {
  (void)user;
  for (size_t i = 0; i < count; ++i) {
    printf("%" PRIu64 " from %u: %.*s\n", messages[i].seq, messages[i].sender,
           (int)messages[i].size, (const char*)messages[i].data);
  }
}

int main(int argc, char** argv) {
  static const tutti_member_address_t members[] = {
      {"a", "127.0.0.1:7101"}, {"b", "127.0.0.1:7102"}, {"c", "127.0.0.1:7103"}};
  tutti_node_t* node = NULL;
  tutti_group_t* group = NULL;
  tutti_error_t error;
  tutti_node_options_t options;
  tutti_group_options_t group_options;
  int status;
  if (argc < 2) return 2;
  tutti_node_options_init(&options, sizeof options);
  options.name = argv[1];
  options.members = members;
  options.member_count = 3;
  tutti_group_options_init(&group_options, sizeof group_options);
  group_options.name = "log";
  group_options.on_delivery = print;

  status = tutti_node_create(&options, &node, &error);
  if (status == 0) status = tutti_node_join(node, &group_options, &group, &error);
  if (status == 0) status = tutti_node_start(node, &error); /* waits for the other two */
  if (status == 0) {
    status = tutti_group_send(group, argv[1], 1, TUTTI_SERVICE_OF_LEVEL, 1000000000, NULL, &error);
  }
  if (status == 0) status = tutti_node_stop(node, 10000000000, &error); /* all is delivered */
  if (status != 0) fprintf(stderr, "%s\n", error.message);
  tutti_group_destroy(group);
  tutti_node_destroy(node);
  return status != 0;
}
