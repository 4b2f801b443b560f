/* A member through the C interface; member_cpp.cpp does the same. */
#include <stdio.h>

#include "interface.h"
#include "tutti/tutti.h"

struct receiver {
  struct shared* shared;
  uint32_t rank;
};

static void deliver(const tutti_message_t* messages, size_t number, void* user) {
  const struct receiver* receiver = user;
  uint64_t sum = 0;
  for (size_t i = 0; i < number; ++i) sum += first_word(messages[i].data, messages[i].size);
  count(receiver->shared, receiver->rank, number, sum);
}

static void send_until_stopped(tutti_group_t* group, const struct plan* plan,
                               const struct shared* shared) {
  uint64_t number = 0;
  while (!stops(shared)) {
    for (int i = 0; i < MESSAGES_AT_ONCE; ++i) {
      tutti_claim_t claim;
      if (tutti_group_try_claim(group, plan->size, &claim) != 0 &&
          tutti_group_claim(group, plan->size, WAIT_NS, &claim, NULL) != 0) {
        break;
      }
      fill(claim.data, plan->size, number++);
      tutti_group_commit(group, &claim, TUTTI_SERVICE_OF_LEVEL, NULL);
    }
  }
}

static int complain(const tutti_error_t* error) {
  return fprintf(stderr, "interface_c: %s\n", error->message), 1;
}

int run_member(const struct plan* plan, uint32_t rank, struct shared* shared) {
  struct receiver receiver = {.shared = shared, .rank = rank};
  tutti_member_address_t members[MEMBERS_MAX];
  tutti_node_options_t options;
  tutti_group_options_t group_options;
  tutti_node_t* node;
  tutti_group_t* group;
  tutti_error_t error;
  for (uint32_t i = 0; i < plan->members; ++i) {
    members[i].name = plan->names[i];
    members[i].address = plan->addresses[i];
  }
  tutti_node_options_init(&options, sizeof options);
  options.name = plan->names[rank];
  options.members = members;
  options.member_count = plan->members;
  options.fabric = TUTTI_FABRIC_SHM;
  tutti_group_options_init(&group_options, sizeof group_options);
  group_options.name = "g";
  group_options.on_delivery = deliver;
  group_options.user = &receiver;
  if (tutti_node_create(&options, &node, &error) != 0 ||
      tutti_node_join(node, &group_options, &group, &error) != 0 ||
      tutti_node_start(node, &error) != 0) {
    return complain(&error);
  }
  started();
  send_until_stopped(group, plan, shared);
  if (tutti_node_stop(node, END_TIMEOUT_NS, &error) != 0) return complain(&error);
  tutti_group_destroy(group);
  tutti_node_destroy(node);
  return 0;
}
