.class public Ldev/pteron/PteronException;
.super Ljava/lang/RuntimeException;
.method constructor <init>(Ljava/lang/String;)V
  .registers 2
  invoke-direct {p0, p1}, Ljava/lang/RuntimeException;-><init>(Ljava/lang/String;)V
  return-void
.end method
.method static of(IIII[B)Ldev/pteron/PteronException;
  .registers 8
  new-instance v0, Ljava/lang/String;
  invoke-direct {v0, p4}, Ljava/lang/String;-><init>([B)V
  new-instance v1, Ldev/pteron/PteronException;
  invoke-direct {v1, v0}, Ldev/pteron/PteronException;-><init>(Ljava/lang/String;)V
  return-object v1
.end method
