package input

import (
	"strings"
	"time"

	"github.com/beckon-mcp/beckon/form"
)

// Validation says what becomes of an answer that does not fit its form.
type Validation string

// What becomes of such an answer. In the form lane it is always asked again.
const (
	ValidateOff      Validation = "off"      // nobody looks; the zero value means the same
	ValidateWarn     Validation = "warn"     // it passes as it is, and the observer is told
	ValidateEnforce  Validation = "enforce"  // the backend gets an error instead
	ValidateReprompt Validation = "reprompt" // the person is asked again
)

// Forms bound the form lane, and what is done with forms elsewhere.
type Forms struct {
	Terms        Terms         // where neither the form nor the backend says otherwise; zero means [DefaultTerms]
	PerPrincipal int           // forms open at once for one principal, or one session where nobody is authenticated; 0 means 20
	PerMinute    int           // forms that one principal and session may open in a minute, and each backend for them; 0 means 10, negative any number
	KeepEnded    time.Duration // how long the end of a form is remembered; 0 means 10 min, negative not at all
	MaxEnded     int           // how many ends are remembered; 0 means 1000
	Loopback     bool          // url fields may name this machine unless their form says otherwise; for development
}

// State is where a request is in its life.
type State string

// The states. The last six are final: they never change.
const (
	Pending   State = "pending"   // nobody has begun to answer
	Active    State = "active"    // somebody has: an answer was tried, or a sign of life came
	Prolonged State = "extended"  // as active, with a later end than it had
	Completed State = "completed" // answered
	Declined  State = "declined"  // the person will not answer
	Cancelled State = "cancelled" // the person closed it; or it was answered wrongly too often
	TimedOut  State = "timeout"   // nobody answered in time
	Dropped   State = "withdrawn" // whoever asked no longer wants to know
	Forsaken  State = "abandoned" // whoever was asked is gone, or could not be asked
)

// Status is a request at one moment.
type Status struct {
	State          State
	CreatedAt      time.Time
	TimeoutAt      time.Time // when it ends, or would have ended
	EndedAt        time.Time // zero as long as it is open
	Attempts       int       // invalid submissions so far
	AttemptsLeft   int       // how many more may come, the valid one included
	ExtensionsLeft int
	Errors         form.Errors // of the newest submission; nil when it was valid, or none came
	Values         form.Values // the answer, or the valid part of the newest submission
	Answer         Answer      // zero as long as it is open; of a request without a form the outcome alone
	By             Submitter   // who sent the newest submission
}

// Submitter is what is known of who submits answers, for the record.
type Submitter struct {
	UserAgent string // what its program calls itself; cut where it is longer than 256 bytes
	Session   string // of the client, as the audit names it
}

// bounded returns s as it may be kept for long, whatever a program calls itself.
func (s Submitter) bounded() Submitter {
	const most = 256
	if len(s.UserAgent) > most {
		s.UserAgent = s.UserAgent[:most]
	}
	s.UserAgent = strings.Clone(strings.ToValidUTF8(s.UserAgent, "�"))
	return s
}

// What is something that happens to an open request.
type What string

// What may happen to a request while it stays open.
const (
	WasTouched  What = "active"   // somebody has begun
	WasRejected What = "rejected" // a submission was invalid; of a relayed one in validation warn, that it passed all the same
	WasWarned   What = "warning"  // it ends soon
	WasExtended What = "extended" // it ends later
)

// Event tells what happened to a request, and how it stands since.
type Event struct {
	What   What
	Status Status
}

// Local is the principal of everybody where nobody is authenticated; "" says the
// same. It owns nothing: there, the session does.
const Local = "local"

// Party is who wants something of a request that is open or has ended.
type Party struct {
	Principal string // "" or [Local] where nobody is authenticated
	Session   string // of the client; "" for one that has none
}

// named returns p with one name for nobody in particular.
func (p Party) named() Party {
	if p.Principal == Local {
		p.Principal = ""
	}
	return p
}

// owner returns whom things belong to: the principal, or else the session.
func (p Party) owner() Party {
	if p = p.named(); p.Principal != "" {
		p.Session = ""
	}
	return p
}

// party returns whom the request that q becomes belongs to.
func (q *Question) party() Party { return Party{q.Principal, q.Session} }

// Form returns the form of r: that of the form lane, or what a requestedSchema was
// lifted to where answers are looked at. Nil for everything else.
func (r *Request) Form() *form.Form {
	if r.sheet == nil {
		return nil
	}
	return r.sheet.form
}

// Lane reports whether r is of the form lane: Beckon owns the form.
func (r *Request) Lane() bool { return r.sheet != nil && r.sheet.lane }

// Terms returns the terms of r.
func (r *Request) Terms() Terms {
	if r.sheet == nil {
		return relayed(r.broker.limits.Timeout, 1)
	}
	return r.sheet.terms
}
