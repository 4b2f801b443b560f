/// Hand-made histories with wrong views: M1 to M10.
#include "unit/history/spoil.hpp"

namespace tutti::history::testing {
namespace {

bool any_event(const Event&) { return true; }

TEST(BadViews, M1MembersSeeAViewDifferently) {
  expect_rejected(
      Property::M1,
      {{"digest", [](Story& s) { s.get(kB, EventKind::install, 1).number ^= 1; }},
       {"leader", [](Story& s) { s.get(kA, EventKind::install, 2).extra = 1; }},
       {"ranks",
        [](Story& s) {
          std::swap(s.get(kB, EventKind::view_member, 0).extra,
                    s.get(kB, EventKind::view_member, 1).extra);
        }},
       {"order",
        [](Story& s) {
          std::swap(s.get(kB, EventKind::view_member, 0), s.get(kB, EventKind::view_member, 1));
        }},
       {"a member less", [](Story& s) { s.erase(kD, s.find(kD, EventKind::view_member, 2)); }},
       {"incarnation", [](Story& s) { s.get(kB, EventKind::view_member, 3).number ^= 1; }},
       {"senders", [](Story& s) { s.get(kA, EventKind::view_member, 1).detail ^= kMemberSends; }},
       {"layout", [](Story& s) { s.get(kA, EventKind::group_member, 1).peer = 2; }},
       {"who left", [](Story& s) { s.get(kD, EventKind::view_left, 0).peer = 9; }},
       {"number of members", [](Story& s) { ++s.get(kA, EventKind::install, 3).length; }},
       {"a leader that is none", [](Story& s) {
          for_all(s, EventKind::install, any_event, [](Event& e) { e.extra = 9; });
        }}});
}

TEST(BadViews, M2ViewsAreNoChain) {
  expect_rejected(
      Property::M2,
      {{"skips one", [](Story& s) { s.get(kA, EventKind::install, 4).view = 6; }},
       {"repeats one", [](Story& s) { s.get(kA, EventKind::install, 2).view = 2; }},
       {"goes back", [](Story& s) { s.get(kD, EventKind::install, 3).view = 1; }},
       {"misses one", [](Story& s) { erase_install(s, kB, 2); }},
       {"D comes without joining",
        [](Story& s) {
          for_all(
              s, EventKind::view_member, [](const Event& e) { return e.peer == 3 && e.view == 2; },
              [](Event& e) { e.detail = kMemberSends; });
        }},
       {"C goes without leaving",
        [](Story& s) {
          erase_everywhere(s, EventKind::view_left, [](const Event& e) { return e.peer == 2; });
        }},
       {"A joins where it was",
        [](Story& s) {
          for_all(
              s, EventKind::view_member, [](const Event& e) { return e.peer == 0 && e.view == 3; },
              [](Event& e) { e.detail |= kMemberJoined; });
        }},
       {"one leaves that was not there", [](Story& s) {
          for_all(
              s, EventKind::view_left, [](const Event& e) { return e.peer == 1; },
              [](Event& e) { e.peer = 9; });
        }}});
}

TEST(BadViews, M3NotInItsOwnView) {
  expect_rejected(
      Property::M3,
      {{"E installs the view without it", [](Story& s) { copy_install(s, kA, 2, kE); }},
       {"C installs the view without it", [](Story& s) { copy_install(s, kB, 2, kC); }},
       {"B installs the view that it left", [](Story& s) { copy_install(s, kA, 4, kB); }},
       {"another incarnation of A",
        [](Story& s) { s.get(kA, EventKind::view_member, 0).number ^= 1; }},
       {"D is not listed", [](Story& s) { s.erase(kD, s.find(kD, EventKind::view_member, 4)); }},
       {"another node", [](Story& s) { s.get(kC2, EventKind::view_member, 3).peer = 99; }}});
}

/// Members of which some fail, and the others go on, however few they are.
Story fails(std::uint16_t members, std::uint16_t failing) {
  Story story;
  std::vector<LifeId> all;
  all.reserve(members);
  for (std::uint16_t node = 0; node < members; ++node) {
    all.push_back(story.begin("n" + std::to_string(node), node));
  }
  story.add_group(0, Level::atomic);
  story.first_view(all);
  all.resize(failing);
  for (const LifeId failed : all) {
    story.lives[failed].crashed = true;
    story.fault(EventKind::fault_begin, FaultKind::crash, story.lives[failed].identity.node);
  }
  story.change_view({.joins = {}, .leaves = {}, .fails = all});
  return story;
}

TEST(BadViews, M4NoMajorityGoesOn) {
  for (std::uint16_t members = 2; members <= 7; ++members) {
    for (std::uint16_t failing = 1; failing < members; ++failing) {
      SCOPED_TRACE(std::to_string(failing) + " of " + std::to_string(members));
      const Report report = fails(members, failing).check();
      EXPECT_EQ(report.found(Property::M4), failing * 2 >= members) << to_string(report);
    }
  }
  expect_rejected(
      Property::M4,
      {{"one of five",
        [](Story& s) { install_at(s, kE, end_of(s, kE), 3, {{kE}}, {kA, kB, kC, kD}); }},
       {"two of five",
        [](Story& s) {
          for (const LifeId life : {kC, kE}) {
            install_at(s, life, end_of(s, life), 3, {{kC}, {kE}}, {kA, kB, kD});
          }
        }},
       {"beside the majority, disjoint",
        [](Story& s) { install_at(s, kC, end_of(s, kC), 3, {{kC}, {kE}}, {kA, kB, kD}); }},
       {"one that leaves counts as failed",
        [](Story& s) {
          for_all(
              s, EventKind::view_left, [](const Event& e) { return e.view == 3; },
              [](Event& e) { e.detail = 1; });
          for (const LifeId life : {kA, kB, kD}) {
            erase_install(s, life, life == kD ? 1 : 2);
          }
          install_at(s, kA, last_delivery(s, kA, kAtomic, 2) + 1, 3, {{kA}}, {kB, kC, kD, kE});
        }},
       {"joiners do not count", [](Story& s) {
          install_at(s, kE, end_of(s, kE), 3, {{kE}, {kC2, kMemberSends | kMemberJoined}},
                     {kA, kB, kC, kD});
        }}});
}

TEST(BadViews, M5DifferentSuccessors) {
  expect_rejected(
      Property::M5,
      {{"E goes elsewhere",
        [](Story& s) { install_at(s, kE, end_of(s, kE), 3, {{kE}}, {kA, kB, kC, kD}); }},
       {"C goes elsewhere",
        [](Story& s) { install_at(s, kC, end_of(s, kC), 3, {{kC}}, {kA, kB, kD, kE}); }},
       {"another digest", [](Story& s) { s.get(kB, EventKind::install, 2).number ^= 1; }},
       {"one skips a view", [](Story& s) { erase_install(s, kD, 2); }},
       {"another id", [](Story& s) { s.get(kA, EventKind::install, 4).view = 6; }},
       {"other members", [](Story& s) { s.erase(kB, s.find(kB, EventKind::view_member, -1)); }}});
}

bool about_c(const Event& event) { return event.peer == 2; }
bool about_e(const Event& event) { return event.peer == 4; }

TEST(BadViews, M6RemovalsWithoutReasonOrEnd) {
  expect_rejected(
      Property::M6,
      {{"nobody suspected C", [](Story& s) { erase_everywhere(s, EventKind::suspect, about_c); }},
       {"nobody suspected E", [](Story& s) { erase_everywhere(s, EventKind::suspect, about_e); }},
       {"another incarnation was suspected",
        [](Story& s) { for_all(s, EventKind::suspect, about_c, [](Event& e) { e.number ^= 1; }); }},
       {"suspected only afterwards",
        [](Story& s) { for_all(s, EventKind::suspect, about_e, [](Event& e) { e.view = 3; }); }},
       {"B did not ask to leave", [](Story& s) { s.erase_all(kB, EventKind::leave); }},
       {"C is back with its old incarnation",
        [](Story& s) {
          for_all(
              s, EventKind::view_member, [](const Event& e) { return e.peer == 2 && e.view > 3; },
              [&s](Event& e) { e.number = s.ref(kC).incarnation; });
        }},
       {"node 2 twice in a view",
        [](Story& s) {
          for_all(
              s, EventKind::view_member, [](const Event& e) { return e.peer == 3 && e.view == 5; },
              [](Event& e) { e.peer = 2; });
        }},
       {"a suspect stays", [](Story& s) {
          s.insert(kA, s.find(kA, EventKind::deliver),
                   make_suspect({.view = 1}, s.ref(kB), SuspectReason::connection));
        }}});
}

TEST(BadViews, M6AViewForNoReason) {
  using Reason = WedgeReason;
  const auto same_again = [](Reason reason, LifeId joiner) {
    Story story = fails(3, 1);
    const LifeId lost = story.begin("lost", 7);
    story.change_view({});
    const std::vector<LifeId> all{2, 3, lost};
    Event& wedge = story.get(2, EventKind::wedge, -1);
    wedge =
        make_wedge({.view = wedge.view, .time_ns = wedge.time_ns}, reason, story.ref(all[joiner]));
    Event& other = story.get(3, EventKind::wedge, -1);
    other = make_wedge({.view = other.view, .time_ns = other.time_ns}, Reason::told);
    return story.check();
  };
  for (const Reason reason : {Reason::told, Reason::suspicion, Reason::leave}) {
    EXPECT_TRUE(same_again(reason, 2).found(Property::M6));
  }
  EXPECT_TRUE(same_again(Reason::join, 0).found(Property::M6)) << "a member joins again";
  EXPECT_FALSE(same_again(Reason::join, 2).found(Property::M6));
  EXPECT_FALSE(same_again(Reason::unsaid, 2).found(Property::M6)) << "its recorder says nothing";

  Story changed = fails(3, 1);
  EXPECT_FALSE(changed.check().found(Property::M6));
  for (const LifeId life : {2, 3}) {
    Event& wedge = changed.get(life, EventKind::wedge, -1);
    wedge = make_wedge({.view = wedge.view, .time_ns = wedge.time_ns}, Reason::told);
  }
  EXPECT_TRUE(changed.check().found(Property::M6)) << "all say that others wedged";
}

TEST(BadViews, M7DecisionsThatDiffer) {
  expect_rejected(
      Property::M7,
      {{"B decides otherwise", [](Story& s) { s.get(kB, EventKind::cut, 0, kAtomic).number ^= 1; }},
       {"E decides otherwise", [](Story& s) { s.get(kE, EventKind::cut, 0, kAgreed).number ^= 1; }},
       {"twice",
        [](Story& s) {
          const std::size_t at = s.find(kA, EventKind::cut, 1, kAtomic);
          s.insert(kA, at, s.lives[kA].events[at]);
        }},
       {"of a view that it is not in",
        [](Story& s) { s.get(kA, EventKind::cut, 1, kAtomic).view = 9; }},
       {"goes on undecided", [](Story& s) { s.erase(kB, s.find(kB, EventKind::cut, 1, kAgreed)); }},
       {"a crashed one had decided otherwise", [](Story& s) {
          s.insert(kC, end_of(s, kC), make_cut({.view = 2, .group = kAtomic}, 4711, 18));
        }}});
}

/// Moves the n-th wedge of a life to before the delivery ahead of it.
void wedge_early(Story& s, LifeId life, int nth, std::uint16_t group) {
  const std::size_t wedge = s.find(life, EventKind::wedge, nth);
  s.move(life, wedge,
         last_delivery(s, life, group, s.lives[life].events[wedge].view) < wedge
             ? last_delivery(s, life, group, s.lives[life].events[wedge].view)
             : s.find(life, EventKind::deliver, 3, group));
}

TEST(BadViews, M8DeliveriesAndSendsAfterTheWedge) {
  expect_rejected(Property::M8,
                  {{"delivers atomic", [](Story& s) { wedge_early(s, kD, 1, kAtomic); }},
                   {"delivers agreed", [](Story& s) { wedge_early(s, kA, 0, kAgreed); }},
                   {"delivers in a wedged group",
                    [](Story& s) {
                      wedge_early(s, kB, 0, kAgreed);
                      s.get(kB, EventKind::wedge, 0).group = kAgreed;
                    }},
                   {"the cut is missing",
                    [](Story& s) { s.erase(kA, s.find(kA, EventKind::cut, 1, kAtomic)); }},
                   {"the decision was of another view",
                    [](Story& s) {
                      const std::size_t cut = s.find(kA, EventKind::cut, 1, kAtomic);
                      s.lives[kA].events[cut] = make_event(EventKind::decide, {.view = 1});
                    }},
                   {"the cut comes late",
                    [](Story& s) {
                      s.move(kB, s.find(kB, EventKind::cut, 1, kAtomic),
                             last_delivery(s, kB, kAtomic, 2));
                    }},
                   {"sends",
                    [](Story& s) {
                      s.insert(kA, s.find(kA, EventKind::wedge) + 1,
                               make_send({.view = 1, .group = kAtomic}, Ticket{99}, 1, 1));
                    }},
                   {"sends what is then delivered", [](Story& s) {
                      s.options.strict_wedge = false;
                      const std::size_t wedge = s.find(kB, EventKind::wedge, 1);
                      std::size_t send = wedge;
                      while (s.lives[kB].events[send].kind != EventKind::send) --send;
                      s.move(kB, send, wedge);
                    }}});
}

TEST(BadViews, M9JoinersWithAnotherState) {
  expect_rejected(Property::M9,
                  {{"digest", [](Story& s) { s.get(kD, EventKind::snapshot_in).number ^= 1; }},
                   {"ordinal", [](Story& s) { ++s.get(kD, EventKind::snapshot_in).position; }},
                   {"none taken", [](Story& s) { s.erase_all(kD, EventKind::snapshot_in); }},
                   {"taken too late",
                    [](Story& s) {
                      s.move(kC2, s.find(kC2, EventKind::snapshot_in),
                             s.find(kC2, EventKind::deliver, 0, kAtomic) + 1);
                    }},
                   {"digest at the source",
                    [](Story& s) { s.get(kA, EventKind::snapshot_out, 1).number ^= 1; }},
                   {"none given", [](Story& s) { s.erase_all(kA, EventKind::snapshot_out); }},
                   {"not of the cut",
                    [](Story& s) {
                      --s.get(kA, EventKind::snapshot_out, 1).position;
                      --s.get(kC2, EventKind::snapshot_in).position;
                    }},
                   {"a message missing",
                    [](Story& s) { s.erase(kD, s.find(kD, EventKind::deliver, 0, kAtomic)); }}});
}

std::uint64_t heal_ns(Story& s) { return s.get(Story::kHarness, EventKind::heal).time_ns; }

TEST(BadViews, M10NoViewOfTheCore) {
  expect_rejected(
      Property::M10,
      {{"E is not in it",
        [](Story& s) {
          s.note_harness(make_heal_core({}, s.ref(kE)));
          s.move(0, end_of(s, 0) - 1, s.find(0, EventKind::heal) + 1);
          s.get(0, EventKind::heal_core).time_ns = heal_ns(s);
        }},
       {"D is too much", [](Story& s) { s.erase(0, s.find(0, EventKind::heal_core, 1)); }},
       {"another incarnation",
        [](Story& s) {
          s.get(0, EventKind::heal_core, 2).number = s.ref(kC).incarnation;
          s.get(0, EventKind::heal_core, 1).number ^= 1;
        }},
       {"D does not get there", [](Story& s) { erase_install(s, kD, 3); }},
       {"too late",
        [](Story& s) { s.get(kA, EventKind::install, 4).time_ns = heal_ns(s) + 60 * Story::kMs; }},
       {"C2 installs nothing",
        [](Story& s) {
          for (int i = 0; i < 2; ++i) erase_install(s, kC2, 0);
        }},
       {"one more view", [](Story& s) {
          install_at(s, kA, end_of(s, kA), 6, {{kA}, {kD}, {kC2}}, {});
          s.get(kA, EventKind::install, 5).time_ns = heal_ns(s) + 200 * Story::kMs;
        }}});
}

}  // namespace
}  // namespace tutti::history::testing
