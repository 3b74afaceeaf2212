package relay

import (
	"testing"
	"testing/synctest"
	"time"
)

// D4: a call has its limit of working time, and the time of people does not
// count.
func TestClock(t *testing.T) {
	const limit = 10 * time.Second
	expired := func(t *testing.T, during func(c *clock)) (after, human time.Duration) {
		t.Helper()
		began, done := time.Now(), make(chan struct{})
		c := newClock(limit, func() { close(done) })
		go during(c)
		<-done
		return time.Since(began), c.stop()
	}
	for _, tt := range []struct {
		name   string
		during func(c *clock)
		want   time.Duration
	}{
		{"nobody is asked", func(*clock) {}, limit},
		{"one question", func(c *clock) {
			time.Sleep(9 * time.Second)
			c.hold()
			time.Sleep(time.Hour)
			c.release()
		}, limit + time.Hour},
		{"two at once", func(c *clock) {
			c.hold()
			time.Sleep(time.Minute)
			c.hold()
			c.release()
			time.Sleep(time.Minute)
			c.release()
		}, limit + 2*time.Minute},
		{"one after the other", func(c *clock) {
			for range 3 {
				c.hold()
				time.Sleep(time.Minute)
				c.release()
				time.Sleep(3 * time.Second)
			}
		}, limit + 3*time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, human := expired(t, tt.during)
				if got != tt.want {
					t.Errorf("expired after %v, want %v", got, tt.want)
				}
				if human != tt.want-limit {
					t.Errorf("measured %v of people, want %v", human, tt.want-limit)
				}
			})
		})
	}
}

// A clock that was stopped stays quiet, whatever still holds and releases it.
func TestClockStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock(time.Second, func() { t.Error("expired after stop") })
		c.hold()
		time.Sleep(time.Minute)
		if human := c.stop(); human != time.Minute {
			t.Errorf("measured %v of people, want 1m", human)
		}
		c.release()
		time.Sleep(time.Hour)
	})
	var none *clock
	none.hold()
	none.release()
	none.stop()
	forever := newClock(0, nil)
	forever.hold()
	forever.release()
	forever.stop()
}
