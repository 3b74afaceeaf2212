package input

import (
	"time"

	"golang.org/x/time/rate"
)

// opener is who opens forms, as the meter knows it. Each backend of a session has an
// allowance of its own, so that none can use up that of another, or of the client.
type opener struct {
	Party
	backend string // "" for the client itself
}

// meter bounds how often things are begun, for each opener by itself. It forgets one
// that has begun nothing for a minute, whose allowance is full again by then, and the
// one that was idle longest when there are very many.
type meter struct {
	perMinute int

	// Openers move from older to recent when they come again. Once a minute, or when
	// recent is full, what is older is forgotten and what is recent becomes older.
	recent, older map[opener]*rate.Limiter
	turned        time.Time
}

// mostMetered is how many openers a generation of the meter holds.
const mostMetered = 10_000

func newMeter(perMinute int) *meter {
	return &meter{perMinute: perMinute, recent: make(map[opener]*rate.Limiter)}
}

// take counts one for who, and returns zero; or counts nothing, and returns how long
// to wait.
func (m *meter) take(who opener, now time.Time) time.Duration {
	if now.Sub(m.turned) >= time.Minute || len(m.recent) >= mostMetered {
		m.older, m.recent, m.turned = m.recent, make(map[opener]*rate.Limiter), now
	}
	l := m.recent[who]
	if l == nil {
		if l = m.older[who]; l == nil {
			l = rate.NewLimiter(rate.Every(time.Minute/time.Duration(m.perMinute)), m.perMinute)
		}
		delete(m.older, who)
		m.recent[who] = l
	}
	if l.AllowN(now, 1) {
		return 0
	}
	return time.Duration((1 - l.TokensAt(now)) / float64(l.Limit()) * float64(time.Second))
}
