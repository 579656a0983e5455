"""Why the accounts of a cluster cannot be changed; the gateway makes problems of them."""

from __future__ import annotations

from rest_framework.exceptions import APIException


class AccessControlOff(APIException):
    """No broker of the cluster has access control on."""

    status_code = 409
    default_code = "access_control_off"


class OwnAccount(APIException):
    """The change would lock Gantry out."""

    status_code = 409
    default_code = "own_account"


class AccountsNotListed(APIException):
    """No broker of the cluster lists its accounts."""

    status_code = 422
    default_code = "not_served_by_broker"
