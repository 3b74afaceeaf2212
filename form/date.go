package form

import (
	"cmp"
	"strings"
)

// moment is a date, or a date and time.
type moment struct {
	day      int // days since 1970-01-01, as it is written
	timed    bool
	second   int    // since the day began in UTC; below 0 and above 86,400 where the zone says so
	fraction string // of a second, without the zeros at its end
}

// parseDate reads a day of the calendar: YYYY-MM-DD.
//
// "full-date = date-fullyear "-" date-month "-" date-mday"
// https://www.rfc-editor.org/rfc/rfc3339#section-5.6
func parseDate(s string) (moment, bool) {
	if len(s) != len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return moment{}, false
	}
	year, ok1 := parseDigits(s[:4])
	month, ok2 := parseDigits(s[5:7])
	day, ok3 := parseDigits(s[8:])
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || day > daysOf(year, month) {
		return moment{}, false
	}
	return moment{day: dayNumber(year, month, day)}, true
}

// parseDateTime reads a date and time, with its distance from UTC. A leap second is
// one that can be: at the end of a day in UTC.
//
// "date-time = full-date "T" full-time"
// https://www.rfc-editor.org/rfc/rfc3339#section-5.6
func parseDateTime(s string) (moment, bool) {
	if len(s) < len("2006-01-02T15:04:05Z") || s[10]|0x20 != 't' || s[13] != ':' || s[16] != ':' {
		return moment{}, false
	}
	m, ok0 := parseDate(s[:10])
	hour, ok1 := parseDigits(s[11:13])
	minute, ok2 := parseDigits(s[14:16])
	second, ok3 := parseDigits(s[17:19])
	if !ok0 || !ok1 || !ok2 || !ok3 || hour > 23 || minute > 59 || second > 60 {
		return moment{}, false
	}
	s = s[19:]
	if s[0] == '.' {
		n := countDigits(s[1:])
		if n == 0 {
			return moment{}, false
		}
		m.fraction = strings.TrimRight(s[1:1+n], "0")
		s = s[1+n:]
	}
	offset, ok := parseOffset(s)
	minute += hour*60 - offset
	if !ok || second == 60 && (minute+24*60)%(24*60) != 24*60-1 {
		return moment{}, false
	}
	m.timed, m.second = true, minute*60+second
	return m, true
}

// parseOffset reads Z or ±HH:MM, and returns minutes.
func parseOffset(s string) (int, bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != len("+15:04") || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, false
	}
	hour, ok1 := parseDigits(s[1:3])
	minute, ok2 := parseDigits(s[4:])
	if !ok1 || !ok2 || hour > 23 || minute > 59 {
		return 0, false
	}
	if minute += hour * 60; s[0] == '-' {
		minute = -minute
	}
	return minute, true
}

// parseMoment reads either.
func parseMoment(s string) (moment, bool) {
	if m, ok := parseDate(s); ok {
		return m, true
	}
	return parseDateTime(s)
}

func parseDigits(s string) (int, bool) {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

func daysOf(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// dayNumber counts the days from 1970-01-01 on, by years that begin in March, so
// that the leap day is the last of its year.
func dayNumber(year, month, day int) int {
	if month <= 2 {
		year, month = year-1, month+12
	}
	era := (year + 400) / 400 // so that the year before 0 is no negative one
	year = year + 400 - era*400
	return (era-1)*146_097 + year*365 + year/4 - year/100 + (153*(month-3)+2)/5 + day - 1 - 719_468
}

// compare returns -1, 0 or 1. Two times are compared as instants, wherever they
// were taken. A date has no time and no zone: beside it, of a date and time only the
// date counts, as it is written. So the last day of a range is in it, evening
// included.
func (m moment) compare(n moment) int {
	if !m.timed || !n.timed {
		return cmp.Compare(m.day, n.day)
	}
	a, b := m.day*86_400+m.second, n.day*86_400+n.second
	if a != b {
		return cmp.Compare(a, b)
	}
	return strings.Compare(m.fraction, n.fraction)
}

// compareDates compares two dates, or dates and times, chronologically. What is
// neither counts as 1970-01-01.
func compareDates(a, b string) int {
	x, _ := parseMoment(a)
	y, _ := parseMoment(b)
	return x.compare(y)
}
