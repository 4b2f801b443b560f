/* One member in C, for tests/system/c_test.py: sends COUNT messages, prints what it delivers as
 * "SEQ SENDER TEXT", and ends with the others.
 *
 *     c_member NAME NAME=HOST:PORT,... callback|take|event COUNT */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tutti/tutti.h"

#define MEMBERS_MAX 8
#define SECOND 1000000000LL

static int fail(const char* what, const tutti_error_t* error) {
  fprintf(stderr, "%s: %s: %s\n", what, tutti_code_name(error->code), error->message);
  return 1;
}

static void print(const tutti_message_t* messages, size_t count, void* user) {
  tutti_group_t** group = user;
  for (size_t i = 0; i < count; ++i) {
    printf("%" PRIu64 " %s %.*s\n", messages[i].seq, tutti_group_member(*group, messages[i].sender),
           (int)messages[i].size, (const char*)messages[i].data);
  }
}

static void print_view(const tutti_view_t* view, void* user) {
  (void)user;
  fprintf(stderr, "view %" PRIu64 ":", view->number);
  for (uint32_t rank = 0; rank < view->member_count; ++rank) {
    fprintf(stderr, " %s", view->members[rank].name);
  }
  fprintf(stderr, "\n");
}

struct sender {
  tutti_group_t* group;
  const char* name;
  int count;
  int status;
};

/* Of the last message: tutti_group_on_delivered tells whoever waits. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int told;

static void delivered(const tutti_error_t* error, void* user) {
  int* status = user;
  pthread_mutex_lock(&mutex);
  told = 1;
  *status = error != NULL;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
}

static int wait_until_delivered(tutti_group_t* group, uint64_t ticket) {
  tutti_error_t error;
  int status = 0;
  if (tutti_group_on_delivered(group, ticket, delivered, &status, &error) != 0) {
    return fail("on_delivered", &error);
  }
  pthread_mutex_lock(&mutex);
  while (!told) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return status;
}

/* Half of the messages are built in place, in claims that turn out too long; the others copied. */
static void* send_all(void* of) {
  struct sender* sender = of;
  tutti_error_t error;
  uint64_t ticket = 0;
  for (int i = 0; i < sender->count; ++i) {
    char text[64];
    const int size = snprintf(text, sizeof text, "%s says %d", sender->name, i);
    if (i % 2 == 0) {
      tutti_claim_t claim;
      if (tutti_group_claim(sender->group, sizeof text, 60 * SECOND, &claim, &error) != 0) {
        sender->status = fail("claim", &error);
        return NULL;
      }
      memcpy(claim.data, text, (size_t)size);
      if (tutti_group_commit_used(sender->group, &claim, (uint32_t)size, TUTTI_SERVICE_OF_LEVEL,
                                  &ticket) != 0) {
        sender->status = 1;
        return NULL;
      }
    } else if (tutti_group_send(sender->group, text, (size_t)size, TUTTI_SERVICE_OF_LEVEL,
                                60 * SECOND, &ticket, &error) != 0) {
      sender->status = fail("send", &error);
      return NULL;
    }
  }
  if (ticket != 0) sender->status = wait_until_delivered(sender->group, ticket);
  tutti_group_finish(sender->group);
  return NULL;
}

/* Takes until the group is complete; with a descriptor, it waits in poll(). */
static int take_all(tutti_group_t* group, int by_event) {
  tutti_error_t error;
  const int descriptor = by_event ? tutti_group_event_fd(group, &error) : -1;
  if (by_event && descriptor < 0) return fail("event_fd", &error);
  for (;;) {
    tutti_batch_t batch;
    int status;
    if (by_event) {
      struct pollfd waits = {descriptor, POLLIN, 0};
      if (poll(&waits, 1, 60000) != 1 && errno != EINTR) return 1;
    }
    status = tutti_group_take(group, 64, by_event ? 0 : 60 * SECOND, &batch, &error);
    if (status == TUTTI_E_COMPLETE) return 0;
    if (status != 0) return fail("take", &error);
    print(batch.messages, batch.count, &group);
    if (!tutti_batch_intact(&batch)) return 1;
    tutti_batch_release(&batch);
  }
}

static int begin_start(tutti_node_t* node, tutti_error_t* error) {
  struct pollfd over = {tutti_node_begin_start(node, error), POLLIN, 0};
  if (over.fd < 0) return over.fd;
  while (poll(&over, 1, 60000) < 0 && errno == EINTR) {
  }
  return tutti_node_started(node, error) == 1 ? 0 : -1;
}

int main(int argc, char** argv) {
  tutti_member_address_t members[MEMBERS_MAX];
  tutti_node_options_t options;
  tutti_group_options_t group_options;
  tutti_group_statistics_t statistics;
  tutti_node_t* node = NULL;
  tutti_group_t* group = NULL;
  tutti_error_t error;
  struct sender sender;
  pthread_t thread;
  size_t count = 0;
  int takes, status = 0;
  if (argc != 5) return 2;
  for (char* one = strtok(argv[2], ","); one != NULL && count < MEMBERS_MAX;
       one = strtok(NULL, ",")) {
    char* split = strchr(one, '=');
    if (split == NULL) return 2;
    *split = '\0';
    members[count].name = one;
    members[count++].address = split + 1;
  }
  tutti_node_options_init(&options, sizeof options);
  options.name = argv[1];
  options.members = members;
  options.member_count = count;
  options.suspect_after_ns = 40 * SECOND;
  options.on_view = print_view;
  takes = strcmp(argv[3], "callback") != 0;
  tutti_group_options_init(&group_options, sizeof group_options);
  group_options.name = "log";
  group_options.window_messages = 64;
  group_options.delivery = takes ? TUTTI_DELIVERY_APPLICATION : TUTTI_DELIVERY_OWN;
  group_options.on_delivery = takes ? NULL : print;
  group_options.user = &group;
  if (tutti_node_create(&options, &node, &error) != 0) return fail("create", &error);
  if (tutti_node_join(node, &group_options, &group, &error) != 0) return fail("join", &error);
  if (strcmp(argv[3], "event") == 0) {
    if (begin_start(node, &error) != 0) return fail("begin_start", &error);
  } else if (tutti_node_start(node, &error) != 0) {
    return fail("start", &error);
  }
  sender.group = group;
  sender.name = argv[1];
  sender.count = atoi(argv[4]);
  sender.status = 0;
  if (pthread_create(&thread, NULL, send_all, &sender) != 0) return 1;
  if (takes) status = take_all(group, strcmp(argv[3], "event") == 0);
  pthread_join(thread, NULL);
  if (status == 0) status = sender.status;
  if (status == 0 && tutti_node_stop(node, 60 * SECOND, &error) != 0) status = fail("stop", &error);
  statistics.size = sizeof statistics;
  if (status == 0 && tutti_group_get_statistics(group, &statistics) != 0) status = 1;
  if (status == 0) fprintf(stderr, "delivered %" PRIu64 "\n", statistics.delivered_messages);
  tutti_group_destroy(group);
  tutti_node_destroy(node);
  return status;
}
