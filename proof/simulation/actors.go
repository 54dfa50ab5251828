package simulation

// actor is a part of the world that steps drive; see the package comment.
type actor interface {
	plan(d *draw, h *History)
	// do carries out a step, and reports false if it is not one of its own. A call of the library is returned, so that it
	// can be made at the same time as others.
	do(s *Step) (do func(), ok bool)
	rest()
}

// newActors returns all actors. For planning, w is nil.
func newActors(w *world) []actor {
	return []actor{
		&merchant{w},
		&surroundings{w},
		newNotifications(w),
		newWalks(w),
		&lookups{w},
		&replicas{w},
	}
}
