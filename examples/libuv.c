/* One event loop, libuv, for a group and for a timer: every 20 ms this member sends a line, and
 * each message of the group is printed. In three terminals (a, b and c):
 *
 *   libuv a a=127.0.0.1:7001,b=127.0.0.1:7002,c=127.0.0.1:7003 COUNT
 *
 * After COUNT lines a member sends no more; it ends once all members have sent theirs.
 * docs/event-loops.md explains each step. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "tutti/tutti.h"

#define MEMBERS_MAX 16
#define LINE_MAX_BYTES 300
#define TICK_MS 20

struct member {
  const char* name;
  tutti_node_t* node;
  tutti_group_t* group;
  tutti_error_t error; /* why nothing comes any more */
  long sent, count;
  uv_poll_t readable;
  uv_timer_t timer;
  uv_async_t space_came;
  tutti_claim_t space; /* that came: written by a thread of the library, before space_came */
};

static int text_of(const struct member* member, char* line, size_t size) {
  return snprintf(line, size, "%s ticks %ld", member->name, member->sent);
}

static void fill_and_commit(struct member* member, tutti_claim_t* claim) {
  char line[LINE_MAX_BYTES];
  text_of(member, line, sizeof line);
  memcpy(claim->data, line, claim->size);
  tutti_group_commit(member->group, claim, TUTTI_SERVICE_OF_LEVEL, NULL);
  ++member->sent;
}

/* On a thread of the library. With an error there is none: the loop learns why when it takes. */
static void hand_over(tutti_claim_t* claim, const tutti_error_t* error, void* user) {
  struct member* member = user;
  if (error != NULL) return;
  member->space = *claim;
  uv_async_send(&member->space_came);
}

/* It must not wait for space: there is more only once messages were taken, and this thread takes
 * them. The timer stops until there is some. */
static void send_line(uv_timer_t* timer) {
  struct member* member = timer->data;
  char line[LINE_MAX_BYTES];
  tutti_claim_t claim;
  const uint32_t size = (uint32_t)text_of(member, line, sizeof line);
  if (member->sent >= member->count) {
    tutti_group_finish(member->group);
    uv_timer_stop(timer);
  } else if (tutti_group_try_claim(member->group, size, &claim) == 0) {
    fill_and_commit(member, &claim);
  } else if (claim.outcome == TUTTI_CLAIM_FULL &&
             tutti_group_on_space(member->group, size, hand_over, member, NULL) == 0) {
    uv_timer_stop(timer);
  }
}

static void use_space(uv_async_t* came) {
  struct member* member = came->data;
  fill_and_commit(member, &member->space);
  uv_timer_start(&member->timer, send_line, TICK_MS, TICK_MS);
}

/* Takes one batch, so that the timer has its turn: while there is more, the descriptor stays
 * readable. The batch may be empty. */
static void print_batch(uv_poll_t* readable, int status, int events) {
  struct member* member = readable->data;
  tutti_batch_t batch;
  (void)status;
  (void)events;
  if (tutti_group_take(member->group, 256, 0, &batch, &member->error) != 0) {
    uv_close((uv_handle_t*)readable,
             NULL); /* does not close the descriptor, which is the group's */
    uv_close((uv_handle_t*)&member->timer, NULL);
    return;
  }
  for (size_t i = 0; i < batch.count; ++i) {
    const tutti_message_t* message = &batch.messages[i];
    printf("%" PRIu64 " %s %.*s\n", message->seq,
           tutti_group_member(member->group, message->sender), (int)message->size,
           (const char*)message->data);
  }
  fflush(stdout);
  tutti_batch_release(&batch);
}

/* Runs the loop until nothing comes any more. */
static int serve(struct member* member) {
  uv_loop_t* loop = uv_default_loop();
  const int descriptor = tutti_group_event_fd(member->group, &member->error);
  if (descriptor < 0) return descriptor;
  member->readable.data = member->timer.data = member->space_came.data = member;
  if (uv_poll_init(loop, &member->readable, descriptor) != 0 ||
      uv_poll_start(&member->readable, UV_READABLE, print_batch) != 0 ||
      uv_async_init(loop, &member->space_came, use_space) != 0 ||
      uv_timer_init(loop, &member->timer) != 0 ||
      uv_timer_start(&member->timer, send_line, 0, TICK_MS) != 0) {
    snprintf(member->error.message, sizeof member->error.message, "libuv refuses a handle");
    return TUTTI_E_SYSTEM;
  }
  uv_unref((uv_handle_t*)&member->space_came); /* it does not keep the loop running */
  uv_run(loop, UV_RUN_DEFAULT);
  return member->error.code;
}

/* The node ends first: until then it may call hand_over. */
static void end(struct member* member) {
  tutti_node_destroy(member->node);
  tutti_claim_abandon(&member->space);
  tutti_group_destroy(member->group);
  if (member->space_came.loop != NULL) uv_close((uv_handle_t*)&member->space_came, NULL);
  uv_run(uv_default_loop(), UV_RUN_NOWAIT);
  uv_loop_close(uv_default_loop());
}

static size_t members_from(char* list, tutti_member_address_t* members) {
  size_t count = 0;
  for (char* one = strtok(list, ","); one != NULL && count < MEMBERS_MAX; one = strtok(NULL, ",")) {
    char* address = strchr(one, '=');
    if (address == NULL) return 0;
    *address = '\0';
    members[count].name = one;
    members[count++].address = address + 1;
  }
  return count;
}

int main(int argc, char** argv) {
  struct member member = {0};
  tutti_member_address_t members[MEMBERS_MAX];
  tutti_node_options_t options;
  tutti_group_options_t group_options;
  int status;
  if (argc != 4) return fprintf(stderr, "usage: libuv NAME a=HOST:PORT,b=HOST:PORT,... COUNT\n"), 2;
  member.name = argv[1];
  member.count = atol(argv[3]);
  tutti_node_options_init(&options, sizeof options);
  options.name = argv[1];
  options.members = members;
  options.member_count = members_from(argv[2], members);
  options.suspect_after_ns = 20000000000;  /* a busy host may hold one up */
  tutti_group_options_init(&group_options, sizeof group_options);
  group_options.name = "lines";
  group_options.delivery = TUTTI_DELIVERY_APPLICATION;

  status = tutti_node_create(&options, &member.node, &member.error);
  if (status == 0) {
    status = tutti_node_join(member.node, &group_options, &member.group, &member.error);
  }
  if (status == 0) status = tutti_node_start(member.node, &member.error);
  if (status == 0) status = serve(&member);
  if (status == TUTTI_E_COMPLETE) {
    status = tutti_node_stop(member.node, 10000000000, &member.error);
  }
  if (status != 0) fprintf(stderr, "libuv: %s\n", member.error.message);
  end(&member);
  return status != 0;
}
