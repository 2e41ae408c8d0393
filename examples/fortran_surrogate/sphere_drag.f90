! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! The drag coefficient of a smooth sphere over the Reynolds number: the standard curve, a correlation for each of ten
! ranges, after R. Clift, J. R. Grace and M. E. Weber, Bubbles, Drops, and Particles, Academic Press 1978, table 5.2
! (page 112). Between Re 3.38e5 and 4e5 the boundary layer turns turbulent and the coefficient falls to a fifth.
module sphere_drag
  implicit none
  private
  public :: drag_coefficient, regimes, regime_of, regime_starts

  integer, parameter :: real64 = selected_real_kind(15), regimes = 10
  ! Where each range begins; the first one, of the creeping flow, at 0.
  real(real64), parameter :: regime_starts(regimes) = [0.0_real64, 0.01_real64, 20.0_real64, 260.0_real64, &
    1.5e3_real64, 1.2e4_real64, 4.4e4_real64, 3.38e5_real64, 4.0e5_real64, 1.0e6_real64]

contains

  pure integer function regime_of(re) result(regime)
    real(real64), intent(in) :: re
    regime = count(re > regime_starts)
  end function

  elemental real(real64) function drag_coefficient(re) result(cd)
    real(real64), intent(in) :: re
    real(real64) :: w
    w = log10(re)
    select case (regime_of(re))
    case (1)
      cd = 3.0_real64 / 16 + 24 / re
    case (2)
      cd = 24 / re * (1 + 0.1315_real64 * re**(0.82_real64 - 0.05_real64 * w))
    case (3)
      cd = 24 / re * (1 + 0.1935_real64 * re**0.6305_real64)
    case (4)
      cd = 10**(1.6435_real64 - 1.1242_real64 * w + 0.1558_real64 * w**2)
    case (5)
      cd = 10**(-2.4571_real64 + 2.5558_real64 * w - 0.9295_real64 * w**2 + 0.1049_real64 * w**3)
    case (6)
      cd = 10**(-1.9181_real64 + 0.6370_real64 * w - 0.0636_real64 * w**2)
    case (7)
      cd = 10**(-4.3390_real64 + 1.5809_real64 * w - 0.1546_real64 * w**2)
    case (8)
      cd = 29.78_real64 - 5.3_real64 * w
    case (9)
      cd = 0.1_real64 * w - 0.49_real64
    case default
      cd = 0.19_real64 - 8.0e4_real64 / re
    end select
  end function
end module
