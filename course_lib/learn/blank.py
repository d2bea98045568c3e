"""The placeholder `____` that learners replace."""

from typing import Any, NoReturn


class NotAttempted(Exception):
    """A placeholder was used as if it had been replaced."""


class Blank:
    """Stands where code is to be written. Whatever is done with it raises NotAttempted; showing it does not."""

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotAttempted("there is still a ____ to replace")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):  # IPython asks every value for _repr_html_ and its kind
            raise AttributeError(name)
        self._refuse()

    def __repr__(self) -> str:
        return "____"

    __bool__ = __call__ = __iter__ = __len__ = __contains__ = __getitem__ = __setitem__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _refuse
    __eq__ = __ne__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __abs__ = _refuse
    __and__ = __rand__ = __or__ = __ror__ = __int__ = __float__ = __index__ = __matmul__ = __rmatmul__ = _refuse
    __str__ = __repr__
    __enter__ = __exit__ = _refuse


____ = Blank()
