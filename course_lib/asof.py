"""The one date of the course. Prices, ages and "this week" refer to it; nothing reads the clock."""

from datetime import date

AS_OF = date(2026, 9, 25)
