/* What a program in C may do wrong: each is an error with a message, never a crash.
 *
 *     c_misuse HOST:PORT */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tutti/tutti.h"

static int failures = 0;

static void expect(int holds, const char* what, int line) {
  if (holds) return;
  fprintf(stderr, "misuse.c:%d: %s\n", line, what);
  ++failures;
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)
#define SAYS(text) (strstr(error.message, text) != NULL)

static tutti_member_address_t members[] = {{"a", NULL}}; /* the address is an argument */

static tutti_node_options_t node_options(void) {
  tutti_node_options_t options;
  EXPECT(tutti_node_options_init(&options, sizeof options) == 0);
  options.name = "a";
  options.members = members;
  options.member_count = 1;
  return options;
}

static tutti_group_options_t group_options(void) {
  tutti_group_options_t options;
  EXPECT(tutti_group_options_init(&options, sizeof options) == 0);
  options.name = "log";
  options.delivery = TUTTI_DELIVERY_APPLICATION;
  return options;
}

static void ignore_delivered(const tutti_error_t* error, void* user) {
  (void)error;
  (void)user;
}

static void ignore_space(tutti_claim_t* claim, const tutti_error_t* error, void* user) {
  (void)error;
  (void)user;
  tutti_claim_abandon(claim);
}

/* A struct as a newer header may have it. */
struct newer {
  tutti_node_options_t known;
  uint64_t unknown;
};

static void sizes(void) {
  tutti_error_t error;
  tutti_node_t* node = NULL;
  tutti_node_options_t options = node_options();
  struct newer newer;
  EXPECT(tutti_node_options_init(NULL, sizeof options) == TUTTI_E_INVALID_ARGUMENT);
  EXPECT(tutti_node_options_init(&options, 3) == TUTTI_E_INVALID_ARGUMENT);
  options.size = 3;
  EXPECT(tutti_node_create(&options, &node, &error) == TUTTI_E_INVALID_ARGUMENT);
  EXPECT(SAYS("call tutti_node_options_init first"));
  EXPECT(tutti_node_create(NULL, &node, &error) == TUTTI_E_INVALID_ARGUMENT);
  EXPECT(SAYS("the node options are NULL"));

  EXPECT(tutti_node_options_init(&newer.known, sizeof newer) == 0);
  EXPECT(newer.unknown == 0);
  newer.known.name = "a";
  newer.known.members = members;
  newer.known.member_count = 1;
  newer.unknown = 1;
  EXPECT(tutti_node_create(&newer.known, &node, &error) == TUTTI_E_INVALID_ARGUMENT);
  EXPECT(SAYS("the program was made for a newer one"));
  newer.unknown = 0;
  EXPECT(tutti_node_create(&newer.known, &node, &error) == 0);
  tutti_node_destroy(node);
}

static void wrong_options(void) {
  tutti_error_t error;
  tutti_node_t* node = NULL;
  tutti_group_t* group = NULL;
  tutti_group_options_t wrong = group_options();
  tutti_node_options_t options = node_options();
  options.name = "stranger";
  EXPECT(tutti_node_create(&options, &node, &error) == TUTTI_E_INVALID_ARGUMENT);
  EXPECT(SAYS("stranger"));
  EXPECT(node == NULL);
  options.name = NULL;
  EXPECT(tutti_node_create(&options, &node, NULL) == TUTTI_E_INVALID_ARGUMENT);
  options = node_options();
  options.members = NULL;
  EXPECT(tutti_node_create(&options, &node, &error) == TUTTI_E_INVALID_ARGUMENT);
  EXPECT(SAYS("members is NULL, though member_count is 1"));
  options = node_options();
  options.fabric = 77;
  EXPECT(tutti_node_create(&options, &node, &error) == TUTTI_E_INVALID_ARGUMENT);
  options = node_options();
  EXPECT(tutti_node_create(&options, &node, &error) == 0);
  wrong.order = -1;
  EXPECT(tutti_node_join(node, &wrong, &group, &error) == TUTTI_E_INVALID_ARGUMENT);
  EXPECT(SAYS("order"));
  EXPECT(group == NULL);
  tutti_node_destroy(node);
}

static void handles(void) {
  tutti_error_t error;
  tutti_node_t* node = NULL;
  tutti_group_t* group = NULL;
  tutti_claim_t claim;
  tutti_batch_t batch;
  tutti_node_options_t options = node_options();
  tutti_group_options_t of_group = group_options();
  EXPECT(tutti_node_start(NULL, &error) == TUTTI_E_INVALID_ARGUMENT);
  EXPECT(SAYS("the handle of a node is NULL"));
  EXPECT(tutti_node_create(&options, &node, &error) == 0);
  EXPECT(tutti_node_join(node, &of_group, &group, &error) == 0);
  EXPECT(tutti_group_try_claim(group, 8, &claim) == TUTTI_E_STOPPED);
  EXPECT(claim.outcome == TUTTI_CLAIM_STOPPED && claim.data == NULL);
  EXPECT(tutti_group_commit(group, &claim, TUTTI_SERVICE_OF_LEVEL, NULL) ==
         TUTTI_E_INVALID_ARGUMENT);
  tutti_claim_abandon(&claim);
  EXPECT(tutti_group_send(group, NULL, 1, TUTTI_SERVICE_OF_LEVEL, 0, NULL, &error) ==
         TUTTI_E_INVALID_ARGUMENT);
  EXPECT(tutti_group_send(group, "x", 1, 9, 0, NULL, &error) == TUTTI_E_INVALID_ARGUMENT);
  EXPECT(SAYS("service 9 is unknown"));
  EXPECT(tutti_group_take(group, 1, 0, &batch, &error) == 0);
  EXPECT(batch.count == 0);
  tutti_batch_release(&batch);
  tutti_batch_release(NULL);
  EXPECT(tutti_group_member(group, 0) != NULL && tutti_group_member(group, 1) == NULL);
  EXPECT(strcmp(tutti_group_name(group), "log") == 0);

  tutti_node_destroy(node);
  tutti_node_destroy(node);
  tutti_node_destroy(NULL);
  EXPECT(tutti_node_start(node, &error) == TUTTI_E_STOPPED);
  EXPECT(tutti_node_begin_start(node, &error) == TUTTI_E_STOPPED);
  EXPECT(tutti_node_started(node, &error) == TUTTI_E_STOPPED);
  EXPECT(SAYS("the handle of a node was destroyed before"));
  EXPECT(tutti_node_poll(node) == TUTTI_E_STOPPED);
  EXPECT(tutti_group_send(group, "x", 1, TUTTI_SERVICE_OF_LEVEL, 0, NULL, &error) ==
         TUTTI_E_STOPPED);
  tutti_group_destroy(group);
  tutti_group_destroy(group);
  EXPECT(tutti_group_finish(group) == TUTTI_E_STOPPED);
  memset(&claim, 0xFF, sizeof claim);
  memset(&batch, 0xFF, sizeof batch);
  EXPECT(tutti_group_try_claim(group, 8, &claim) == TUTTI_E_STOPPED);
  EXPECT(tutti_group_take(group, 1, 0, &batch, &error) == TUTTI_E_STOPPED);
  tutti_claim_abandon(&claim); /* what failed left nothing to end */
  tutti_batch_release(&batch);
  EXPECT(tutti_group_name(group) == NULL && tutti_group_member(group, 0) == NULL);
}

static int started(tutti_node_t** node, tutti_group_t** group) {
  tutti_error_t error;
  tutti_node_options_t options = node_options();
  tutti_group_options_t of_group = group_options();
  EXPECT(tutti_node_create(&options, node, &error) == 0);
  EXPECT(tutti_node_join(*node, &of_group, group, &error) == 0);
  if (tutti_node_start(*node, &error) == 0) return 1;
  expect(0, error.message, __LINE__);
  return 0;
}

static void batch_outlives_its_node(void) {
  tutti_error_t error;
  tutti_node_t* node = NULL;
  tutti_group_t* group = NULL;
  tutti_batch_t batch, second;
  tutti_claim_t claim, moved;
  uint64_t ticket = 0, late = 1;
  if (!started(&node, &group)) return;
  EXPECT(tutti_group_try_claim(group, 4, &claim) == 0);
  memcpy(claim.data, "kept", 4);
  moved = claim;
  EXPECT(tutti_group_commit(group, &moved, TUTTI_SERVICE_OF_LEVEL, &ticket) == 0);
  EXPECT(ticket == 1 && moved.data == NULL && moved.outcome == TUTTI_CLAIM_STOPPED);
  EXPECT(tutti_group_try_claim(group, 4, &claim) == 0);
  moved = claim;
  claim.data = NULL; /* moved away: the copy is the claim now */
  EXPECT(tutti_group_commit(group, &claim, TUTTI_SERVICE_OF_LEVEL, &late) ==
         TUTTI_E_INVALID_ARGUMENT);
  EXPECT(late == 0);
  tutti_claim_abandon(&moved);
  memset(&moved, 0xff, sizeof moved); /* whoever sets `data` alone may abandon it */
  moved.data = NULL;
  EXPECT(tutti_group_commit(group, &moved, TUTTI_SERVICE_OF_LEVEL, NULL) ==
         TUTTI_E_INVALID_ARGUMENT);
  tutti_claim_abandon(&moved);
  EXPECT(tutti_group_take(group, 8, 10000000000, &batch, &error) == 0);
  EXPECT(batch.count == 1 && batch.view == 1);
  EXPECT(tutti_group_take(group, 8, 0, &second, &error) == TUTTI_E_INVALID_ARGUMENT);
  EXPECT(SAYS("still held"));
  EXPECT(tutti_group_delivered(group, ticket) == 0);
  EXPECT(tutti_group_try_claim(group, 4, &claim) == 0);
  EXPECT(tutti_group_commit_used(group, &claim, 5, TUTTI_SERVICE_OF_LEVEL, &late) ==
         TUTTI_E_INVALID_ARGUMENT); /* more than was claimed; it is given up */
  EXPECT(late == 0 && claim.data == NULL);
  EXPECT(tutti_group_on_delivered(group, ticket, NULL, NULL, &error) == TUTTI_E_INVALID_ARGUMENT);
  EXPECT(SAYS("the callback is NULL"));
  EXPECT(tutti_group_on_delivered(group, 99, ignore_delivered, NULL, &error) ==
         TUTTI_E_INVALID_ARGUMENT);
  EXPECT(SAYS("ticket 99 names no message"));
  EXPECT(tutti_group_on_space(group, 8, NULL, NULL, &error) == TUTTI_E_INVALID_ARGUMENT);
  EXPECT(tutti_group_on_space(group, 1U << 30, ignore_space, NULL, &error) ==
         TUTTI_E_INVALID_ARGUMENT);
  EXPECT(SAYS("over the maximum"));
  EXPECT(tutti_group_barrier(group, 1, &error) == TUTTI_E_TIMED_OUT); /* nobody takes */
  tutti_node_destroy(node);
  tutti_group_destroy(group);
  EXPECT(batch.messages[0].size == 4 && memcmp(batch.messages[0].data, "kept", 4) == 0);
  tutti_batch_release(&batch);
  tutti_batch_release(&batch);
}

static void after_a_fork(void) {
  tutti_error_t error;
  tutti_node_t* node = NULL;
  tutti_node_options_t options = node_options();
  pid_t child;
  int status = 0;
  EXPECT(tutti_node_create(&options, &node, &error) == 0);
  child = fork();
  if (child == 0) {
    const int refused = tutti_node_start(node, &error) == TUTTI_E_STOPPED && SAYS("forked");
    tutti_node_destroy(node);
    _exit(refused ? 0 : 1);
  }
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  tutti_node_destroy(node);
}

/* The claim lies in memory that the child shares. */
static void a_claim_and_a_fork(void) {
  tutti_error_t error;
  tutti_node_t* node = NULL;
  tutti_group_t* group = NULL;
  tutti_batch_t batch;
  tutti_claim_t claim;
  pid_t child;
  int status = 0;
  if (!started(&node, &group)) return;
  EXPECT(tutti_group_try_claim(group, 4, &claim) == 0);
  child = fork();
  if (child == 0) {
    const int refused =
        tutti_group_commit(group, &claim, TUTTI_SERVICE_OF_LEVEL, NULL) == TUTTI_E_STOPPED;
    tutti_claim_abandon(&claim);
    _exit(refused && claim.data == NULL ? 0 : 1);
  }
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  memcpy(claim.data, "ours", 4);
  EXPECT(tutti_group_commit(group, &claim, TUTTI_SERVICE_OF_LEVEL, NULL) == 0);
  EXPECT(tutti_group_take(group, 8, 10000000000, &batch, &error) == 0);
  EXPECT(batch.count == 1 && memcmp(batch.messages[0].data, "ours", 4) == 0);
  tutti_batch_release(&batch);
  EXPECT(tutti_group_try_claim(group, 4, &claim) == 0);
  tutti_claim_abandon(&claim);
  tutti_node_destroy(node);
  tutti_group_destroy(group);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  members[0].address = argv[1];
  EXPECT(tutti_abi_version() == TUTTI_ABI_VERSION);
  EXPECT(strcmp(tutti_code_name(TUTTI_E_COMPLETE), "complete") == 0);
  EXPECT(strcmp(tutti_code_name(1), "unknown") == 0);
  sizes();
  wrong_options();
  handles();
  batch_outlives_its_node();
  after_a_fork();
  a_claim_and_a_fork();
  printf("%d failures\n", failures);
  return failures != 0;
}
