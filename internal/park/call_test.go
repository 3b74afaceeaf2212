package park

import (
	"testing"
)

// A call that asks goes on when its client comes back with the answer; it runs
// once.
func TestQuestionAndAnswer(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		state := s.begin(s.asking(1)).wantInput("r1")
		s.resume(state, named("r1", "Ada")).wantResult("got Ada")
	})
}
