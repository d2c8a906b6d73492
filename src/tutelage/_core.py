"""The native core. Importing this module gives the variant of it that fits this processor, in this module's place."""

import sys

from tutelage._native import load

sys.modules[__name__] = load()
